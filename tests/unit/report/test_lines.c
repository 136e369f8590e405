// SPDX-License-Identifier: BSD-3-Clause
// Foreign names in texts and tables: whatever they hold, they stay part of their line.
#include "core/base/line.h"

#include <stdlib.h>
#include <string.h>

#include "report/findings/summarise.h"
#include "report/pages/message_text.h"
#include "report/pages/report_csv.h"
#include "report/pages/report_text.h"
#include "core/base/err.h"
#include "tests/lib/check.h"
#include "tests/unit/report/results_sample.h"

static struct results_sample sample;
static struct crit_summary summary;
static struct crit_call_sites *call_sites;

static void summarise(void)
{
	struct crit_summary_options options = { .critd_path = "critd" };

	crit_call_sites_destroy(call_sites);
	call_sites = crit_call_sites_create(NULL, &sample.results);
	options.call_sites = call_sites;
	CHECK(call_sites != NULL);
	CHECK_INT_EQ(crit_summarise(&summary, &sample.results, &options), 0);
}

#define NAME(field) ((void)snprintf(field, sizeof(field), "x%sy\"", what))

/* Calls all that has a name of its own x<what>y". */
static void name_all(const char *what)
{
	struct crit_results *results = &sample.results;

	results_sample_hybrid(&sample);
	NAME(results->exe);
	NAME(results->arguments);
	for (size_t i = 0; i < results->node_count; i++) {
		NAME(sample.nodes[i].host);
		NAME(sample.nodes[i].kernel_release);
	}
	for (size_t i = 0; i < results->thread_count; i++)
		NAME(sample.threads[i].name);
	for (size_t i = 0; i < results->preemptor_count; i++)
		NAME(sample.preemptors[i].name);
	for (size_t i = 0; i < results->messages.communicator_count; i++)
		NAME(sample.communicators[i].name);
	for (size_t i = 0; i < results->regions.row_count; i++)
		if (sample.region_rows[i].name[0])
			NAME(sample.region_rows[i].name);
	summarise();
	crit_summary_add_missing(&summary, true, what, "what %s left", what);
}

/* All that is written by lines. */
static char *lines_of(void)
{
	char *lines = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&lines, &size);

	crit_write_text(out, &summary, &(struct crit_text_options){ 0 });
	for (size_t i = 0; crit_csv_at(i); i++)
		crit_csv_write(crit_csv_at(i), out, &summary);
	(void)fclose(out);
	crit_summary_fini(&summary);
	return lines;
}

/* Line by line, so that a failure is short. */
static void check_same(const char *attacked, const char *expected)
{
	while (*attacked && *expected) {
		size_t bytes = strcspn(attacked, "\n"), expected_bytes = strcspn(expected, "\n");
		char *line = strndup(attacked, bytes), *wanted = strndup(expected, expected_bytes);
		bool is_same = CHECK_STR_EQ(line, wanted);

		free(line);
		free(wanted);
		if (!is_same)
			return;
		attacked += bytes + (attacked[bytes] == '\n');
		expected += expected_bytes + (expected[expected_bytes] == '\n');
	}
	CHECK(!*attacked && !*expected);
}

/* What is more than text in a name is as many '?': no line, no column and no order is forged. */
static void test_forged_lines(void)
{
	static const char *const hostile[] = { "\n",           "\r",           "\t",
					       "\033",         "\177",         "\x9b",
					       "\xc2\x9b",     "\xe2\x80\xae", "\xe2\x80\xa8",
					       "\xe2\x81\xa6", "\xd8\x9c",     "\xe2\x80",
					       "\xc0\x8a",     "\xed\xa0\x80" };
	static const char *const harmless[] = { "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x9a\x80" };

	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		char *attacked, *expected;

		CHECK_CASE("hostile name %zu", i);
		name_all(hostile[i]);
		attacked = lines_of();
		name_all(&"????"[4 - strlen(hostile[i])]);
		expected = lines_of();
		check_same(attacked, expected);
		free(attacked);
		free(expected);
	}
	for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++) {
		char *lines;

		CHECK_CASE("harmless name %zu", i);
		name_all(harmless[i]);
		lines = lines_of();
		CHECK(strstr(lines, harmless[i]) != NULL);
		free(lines);
	}
	CHECK_CASE("%s", "");
}

static void test_error(void)
{
	struct crit_err err;

	(void)crit_err_set(&err, -1, "cannot open %s", "a\ncrit: all is well\033[2K");
	CHECK_STR_EQ(err.text, "cannot open a?crit: all is well?[2K");
}

int main(void)
{
	test_forged_lines();
	test_error();
	crit_call_sites_destroy(call_sites);
	return check_done();
}
