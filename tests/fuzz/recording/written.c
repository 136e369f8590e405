// SPDX-License-Identifier: BSD-3-Clause
// Writes into memory what crit report writes into files.
#include "tests/fuzz/recording/written.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/findings/summarise.h"
#include "report/pages/report_csv.h"
#include "report/pages/report_json.h"
#include "report/pages/report_summary.h"
#include "report/pages/report_text.h"
#include "report/profiles/profile_pprof.h"
#include "report/profiles/profile_text.h"

#define DELETE 0x7f

static int write_text(FILE *out, const struct crit_summary *summary)
{
	crit_write_text(out, summary, &(struct crit_text_options){ 0 });
	crit_write_text(out, summary,
			&(struct crit_text_options){ .is_first_screen_only = true, .columns = 60 });
	crit_write_summary(out, summary);
	return 0;
}

static int write_tables(FILE *out, const struct crit_summary *summary)
{
	for (size_t i = 0; crit_csv_at(i); i++)
		crit_csv_write(crit_csv_at(i), out, summary);
	return 0;
}

/* What pprof takes is no text. */
static void write_pprof(const struct crit_summary *summary)
{
	char *bytes = NULL;
	size_t length;
	FILE *out = open_memstream(&bytes, &length);

	if (!out || crit_pprof_write(out, summary) || fclose(out))
		abort();
	free(bytes);
}

static void fail(const char *what, const char *text)
{
	fprintf(stderr, "broken: %s\n%s\n", what, text);
	abort();
}

static char *write_with(int (*write)(FILE *out, const struct crit_summary *summary),
			const struct crit_summary *summary, size_t *ret_length)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_length);

	if (!out || write(out, summary) || fclose(out))
		fail("the writer", "failed");
	for (size_t i = 0; i < *ret_length; i++)
		if (((unsigned char)text[i] < ' ' && text[i] != '\n') ||
		    (text[i] == DELETE && write != crit_write_json)) /* JSON may have it */
			fail("a control character", text);
	return text;
}

static void check_json(int (*write)(FILE *out, const struct crit_summary *summary),
		       const struct crit_summary *summary)
{
	json_error_t error;
	size_t length;
	char *text = write_with(write, summary, &length);
	json_t *json = json_loadb(text, length, JSON_REJECT_DUPLICATES, &error);

	if (!json)
		fail(error.text, text);
	json_decref(json);
	free(text);
}

void written_check(const struct crit_results *results)
{
	const struct crit_summary_options options = { .critd_path = "critd" };
	struct crit_summary summary;
	size_t length;

	if (crit_summarise(&summary, results, &options))
		return; /* out of memory */
	free(write_with(write_text, &summary, &length));
	free(write_with(write_tables, &summary, &length));
	check_json(crit_write_json, &summary);
	if (results->samples.count) {
		free(write_with(crit_collapsed_write, &summary, &length));
		check_json(crit_speedscope_write, &summary);
		write_pprof(&summary);
	}
	crit_summary_fini(&summary);
}
