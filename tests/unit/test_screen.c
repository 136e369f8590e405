// SPDX-License-Identifier: BSD-3-Clause
/*
 * The first screen of runs of 2 to 1,024 ranks: golden files, and the bounds of the page.
 * CRIT_GOLDEN_WRITE=1 writes the golden files anew.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/formats/screen.h"
#include "report/formats/writers.h"
#include "tests/lib/check.h"
#include "tests/unit/wide_sample.h"

#ifndef DATA_DIR
#error "DATA_DIR says where the golden files are"
#endif

#define GOLDEN_BYTES 16384

static const struct {
	uint32_t ranks;
	enum wide_language language;
} runs[] = {
	{ 2, WIDE_CXX },
	{ 8, WIDE_FORTRAN },
	{ 64, WIDE_CXX },
	{ 1024, WIDE_FORTRAN },
};

#define RUNS (sizeof(runs) / sizeof(runs[0]))

static char *screen_of(const struct crit_summary *summary)
{
	const struct crit_text_options options = { .is_first_screen_only = true };
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	crit_write_text(out, summary, &options);
	(void)fclose(out);
	return text;
}

static void check_bounds(const char *text, size_t columns)
{
	int lines = 0;

	for (const char *end; (end = strchr(text, '\n')); text = end + 1) {
		CHECK_MSG((size_t)(end - text) <= columns, "%.*s", (int)(end - text), text);
		lines++;
	}
	CHECK_INT_LE(lines, CRIT_SCREEN_LINES);
}

static void compare_golden(const char *text, uint32_t ranks, size_t columns)
{
	char path[512], golden[GOLDEN_BYTES] = "";
	FILE *file;

	(void)snprintf(path, sizeof(path), "%s/screen-%u-%zu.txt", DATA_DIR, ranks, columns);
	if (getenv("CRIT_GOLDEN_WRITE")) {
		file = fopen(path, "w");
		if (file) {
			(void)fputs(text, file);
			(void)fclose(file);
		}
	}
	file = fopen(path, "r");
	if (file) {
		(void)!fread(golden, 1, sizeof(golden) - 1, file);
		(void)fclose(file);
	}
	CHECK_MSG(strcmp(golden, text) == 0, "%s differs from what is written now:\n%s", path,
		  text);
}

static void test_golden(void)
{
	static struct wide_sample sample;

	for (size_t i = 0; i < RUNS; i++) {
		char *text;

		CHECK_CASE("%u ranks", runs[i].ranks);
		CHECK_INT_EQ(wide_sample_init(&sample, runs[i].ranks, runs[i].language), 0);
		text = screen_of(&sample.summary);
		check_bounds(text, CRIT_SCREEN_COLUMNS);
		compare_golden(text, runs[i].ranks, CRIT_SCREEN_COLUMNS);
		free(text);
		wide_sample_fini(&sample);
	}
}

int main(void)
{
	test_golden();
	return check_done();
}
