// SPDX-License-Identifier: BSD-3-Clause
// The first screen of runs of 2 to 1,024 ranks: golden files, and the bounds of the page.
// CRIT_GOLDEN_WRITE=1 writes the golden files anew.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/findings/programs.h"
#include "report/findings/summarise.h"
#include "report/pages/report_summary.h"
#include "report/pages/report_text.h"
#include "report/formats/screen.h"
#include "report/tables/location_fit.h"
#include "tests/lib/check.h"
#include "tests/unit/report/wide_sample.h"

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

static char *screen_of(const struct crit_summary *summary, int columns)
{
	const struct crit_text_options options = { .is_first_screen_only = true,
						   .columns = columns };
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
		CHECK_CASE("%u ranks", runs[i].ranks);
		CHECK_INT_EQ(wide_sample_init(&sample, runs[i].ranks, runs[i].language), 0);
		for (int columns = 80; columns <= 140; columns += 60) {
			char *text = screen_of(&sample.summary, columns);

			check_bounds(text, (size_t)columns);
			compare_golden(text, runs[i].ranks, (size_t)columns);
			free(text);
		}
		wide_sample_fini(&sample);
	}
}

/* Any width is brought to 60 to 200, 0 is 80; no line is longer, and no figure is cut. */
static void test_widths(void)
{
	static const struct {
		int asked, columns;
	} rows[] = { { 0, 80 },  { -1, 60 }, { 1, 60 },    { 60, 60 },   { 61, 61 },
		     { 75, 75 }, { 76, 76 }, { 120, 120 }, { 200, 200 }, { 9999, 200 } };
	static struct wide_sample sample;

	CHECK_INT_EQ(wide_sample_init(&sample, 64, WIDE_CXX), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text = screen_of(&sample.summary, rows[i].asked);

		CHECK_CASE("%d columns", rows[i].asked);
		check_bounds(text, (size_t)rows[i].columns);
		CHECK(strstr(text, "window 1.050 s\n"));
		CHECK(strstr(text, " solver.hpp:134 ") || strstr(text, "solv..hpp:134 "));
		CHECK(strstr(text, "reduce_over_subdomains.hpp:1417, 21.486 s\n"));
		CHECK(strstr(text, "  rank 21\n"));
		CHECK(strstr(text, " 32.2%"));
		free(text);
	}
	wide_sample_fini(&sample);
}

/* What a compiler makes of a name, and what a reader calls it. */
static void test_bare_names(void)
{
	static const struct {
		const char *function, *bare, *scoped;
	} rows[] = {
		{ "main", "main", "main" },
		{ "solve.part.0", "solve.part.0", "solve.part.0" },
		{ "operators", "operators", "operators" },
		{ "ns::Solver::step(int)", "step", "Solver::step" },
		{ "void ns::Solver<double, A<int> >::smooth<(ns::Order)2>(ns::G const&) const",
		  "smooth", "Solver::smooth" },
		{ "(anonymous namespace)::step(int)", "step", "step" },
		{ "gmx::(anonymous namespace)::step(int)", "step", "step" },
		{ "std::vector<int> run<int>(std::function<void (int)>)", "run", "run" },
		{ "ns::reduce<main(int, char**)::{lambda(double)#1}>", "reduce", "ns::reduce" },
		{ "ns::reduce<main(int, cha", "reduce", "ns::reduce" },
		{ "(anonymous namespace)::Halo::operator()(int) const", "Halo::operator()",
		  "Halo::operator()" },
		{ "bool operator< <int>(A<int> const&, A<int> const&)", "operator<", "operator<" },
		{ "A<int>::operator->()", "A::operator->", "A::operator->" },
		{ "main::{lambda(int)#1}::operator()(int) const", "{lambda#1}::operator()",
		  "{lambda#1}::operator()" },
		{ "ns::Solver<int>::~Solver()", "~Solver", "Solver::~Solver" },
		{ "__ghost_exchange_MOD_finish", "finish", "finish" },
		{ "(a)", "(a)", "(a)" },
		{ "farm::main::{{closure}}", "main::{{closure}}", "main::{{closure}}" },
		{ "<farm::Grid as core::ops::Drop>::drop", "drop", "drop" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char text[128];

		CHECK_STR_EQ(crit_name_bare(rows[i].function, text, sizeof(text)), rows[i].bare);
		CHECK_STR_EQ(crit_name_scoped(rows[i].function, text, sizeof(text)),
			     rows[i].scoped);
		CHECK_MSG(crit_name_is(rows[i].function, rows[i].bare), "%s", rows[i].function);
		CHECK_MSG(crit_name_is(rows[i].function, rows[i].function), "%s", rows[i].bare);
	}
}

static void test_names_asked(void)
{
	static const char smooth[] = "void ns::Solver<int>::smooth<2>(ns::Grid&) const";
	static const struct {
		const char *function, *wanted;
		bool is_meant;
	} rows[] = {
		{ smooth, "smooth", true },
		{ smooth, "Solver::smooth", true },
		{ smooth, "ns::Solver::smooth", true },
		{ smooth, "mooth", false },
		{ smooth, "other::ns::Solver::smooth", false },
		{ smooth, "Solver::smooth(ns::Grid&)", false },
		{ smooth, "Grid", false },
		{ smooth, "", false },
		{ "main::{lambda(int)#1}::operator()(int) const", "operator()", true },
		{ "ns::step(double)", "ns::step(double)", true },
		{ "ns::step(double)", "ns::step(int)", false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		CHECK_MSG(crit_name_is(rows[i].function, rows[i].wanted) == rows[i].is_meant,
			  "%s: %s", rows[i].function, rows[i].wanted);
}

/* However narrow: the line or the offset stays whole. */
static void test_location_fit(void)
{
	const struct crit_source_location line = { .function = "ns::reduce_over_all<int>()",
						   .file = "/src/reduce_over_all_ranks.hpp",
						   .line = 134 };
	const struct crit_source_location offset = { .function = "__ghost_exchange_MOD_finish_all",
						     .function_offset = 0x2c4,
						     .module = "/opt/ocean" };
	const struct crit_source_location construct = {
		.function = "Grid<int>::smooth(int) const [clone ._omp_fn.1] [clone .cold]",
		.module = "/opt/ocean"
	};
	const struct crit_source_location module = { .module = "/opt/ocean_model",
						     .offset = 0x51c4 };
	char text[128];

	CHECK_STR_EQ(crit_location_fit(&line, 80, text, sizeof(text)),
		     "reduce_over_all reduce_over_all_ranks.hpp:134");
	CHECK_STR_EQ(crit_location_fit(&line, 40, text, sizeof(text)),
		     "redu.._all reduce_over_all_ranks.hpp:134");
	CHECK_STR_EQ(crit_location_fit(&line, 32, text, sizeof(text)),
		     "reduce_over_all_ranks.hpp:134");
	CHECK_STR_EQ(crit_location_fit(&line, 20, text, sizeof(text)), "reduce_..nks.hpp:134");
	CHECK_STR_EQ(crit_location_fit(&offset, 20, text, sizeof(text)), "finish_all+0x2c4");
	CHECK_STR_EQ(crit_location_fit(&offset, 14, text, sizeof(text)), "fin..all+0x2c4");
	CHECK_STR_EQ(crit_location_fit(&construct, 80, text, sizeof(text)),
		     "Grid::smooth._omp_fn.1");
	CHECK_STR_EQ(crit_name_bare("f(int) const [clone .isra.0]", text, sizeof(text)), "f");
	CHECK_STR_EQ(crit_location_fit(&module, 80, text, sizeof(text)), "ocean_model+0x51c4");
	CHECK_STR_EQ(crit_location_fit(&(struct crit_source_location){ .offset = 16 }, 80, text,
				       sizeof(text)),
		     "0x10");
}

/* Calls that never wait, and places that are none, take no room. */
static void test_no_zeros(void)
{
	static struct wide_sample sample;
	char *text;

	CHECK_INT_EQ(wide_sample_init(&sample, 2, WIDE_CXX), 0);
	sample.calls[2].wait_ns = 0; /* second of those that wait */
	text = screen_of(&sample.summary, 0);
	CHECK(strstr(text, "MPI_Allreduce "));
	CHECK(!strstr(text, "MPI_Waitall"));
	CHECK(!strstr(text, " at 0"));
	CHECK(!strstr(text, ", blocked"));
	free(text);
	sample.calls[1].wait_ns = 0;
	text = screen_of(&sample.summary, 0);
	CHECK(!strstr(text, "waits for\n"));
	free(text);
	wide_sample_fini(&sample);
}

/* The name of the run: the commonest program; ranks whose program is not known do not count. */
static void test_program(void)
{
	static struct wide_sample sample;
	size_t others;

	CHECK_INT_EQ(wide_sample_init(&sample, 8, WIDE_CXX), 0);
	CHECK_STR_EQ(crit_programs_name(&sample.results, &others), "heat");
	CHECK_UINT_EQ(others, 1);
	CHECK(crit_programs_has_launcher(&sample.results));
	CHECK_STR_EQ(crit_programs_exe(&sample.results), "heat");
	(void)snprintf(sample.results.ranks[1].arguments, sizeof(sample.results.ranks[1].arguments),
		       "./heat 9");
	sample.results.ranks[1].program[0] = sample.results.ranks[0].program[0] = '\0';
	CHECK(crit_programs_arguments(&sample.results) == sample.results.ranks[2].arguments);
	(void)snprintf(sample.results.exe, sizeof(sample.results.exe), "/opt/bin/heat");
	CHECK(!crit_programs_has_launcher(&sample.results));
	CHECK_STR_EQ(crit_programs_exe(&sample.results), "/opt/bin/heat");
	CHECK(crit_programs_arguments(&sample.results) == sample.results.arguments);
	(void)snprintf(sample.results.exe, sizeof(sample.results.exe), "mpirun.openmpi");
	for (size_t i = 0; i < 5; i++)
		sample.results.ranks[i].program[0] = '\0';
	CHECK_STR_EQ(crit_programs_name(&sample.results, &others), "coupler");
	CHECK_UINT_EQ(others, 1);
	sample.results.rank_count = 0;
	CHECK_STR_EQ(crit_programs_name(&sample.results, &others), "mpirun.openmpi");
	CHECK(!crit_programs_has_launcher(&sample.results));
	CHECK_UINT_EQ(others, 0);
	sample.results.rank_count = 8;
	wide_sample_fini(&sample);
}

/* More than 32 ranks: least, quartiles, most, and who; the ranks of equal time by number. */
static void test_spread(void)
{
	static struct wide_sample sample;
	char *text;

	CHECK_INT_EQ(wide_sample_init(&sample, 32, WIDE_CXX), 0);
	text = screen_of(&sample.summary, 0);
	CHECK(!strstr(text, "quartiles"));
	free(text);
	wide_sample_fini(&sample);
	CHECK_INT_EQ(wide_sample_init(&sample, 33, WIDE_CXX), 0);
	for (uint32_t i = 0; i < 33; i++)
		sample.results.ranks[i].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_OMP] =
			i == 7 ? 1000000000 : 10000000 * (i + 1);
	text = screen_of(&sample.summary, 140);
	CHECK(strstr(text, "useful s: min 0.010 rank 0, quartiles 0.100 0.180 0.260, max 1.000 "
			   "rank 7 ["));
	CHECK(strstr(text, " :]\n"));
	free(text);
	wide_sample_fini(&sample);
}

/* For scripts: a line a key; a name cannot make another line. */
static void test_summary(void)
{
	static const char *const lines[] = {
		"program: a?b\n",       "other_programs: 1\n",  "ranks: 8\n",
		"threads: 8\n",         "nodes: 1\n",           "mode: full\n",
		"complete: yes\n",      "window_s: 1.050000\n", "all_waiting_window_s: 0.050000\n",
		"verdict: imbalance\n", "most_work_rank: 2\n",  "cpu_load_balance_ratio: 0.63",
	};
	static struct wide_sample sample;
	char *text = NULL;
	size_t size = 0;
	FILE *out;

	CHECK_INT_EQ(wide_sample_init(&sample, 8, WIDE_FORTRAN), 0);
	for (size_t i = 0; i < 6; i++)
		(void)snprintf(sample.results.ranks[i].program, 4, "a\nb");
	out = open_memstream(&text, &size);
	crit_write_summary(out, &sample.summary);
	(void)fclose(out);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		CHECK_MSG(strstr(text, lines[i]), "%s is not in:\n%s", lines[i], text);
	CHECK_MSG(!strstr(text, "\nb\n"), "%s", text);
	free(text);
	wide_sample_fini(&sample);
}

static void find_one(void *user, uint32_t node, uint32_t pid, uint64_t address,
		     struct crit_source_location *ret_place)
{
	const struct crit_call_site_row *site = user;

	(void)node;
	(void)pid;
	(void)address;
	*ret_place = site->place;
}

/* A sentence names a place once, though one works there while the others wait there. */
static void test_one_place(void)
{
	static struct wide_sample sample;
	struct crit_region_finder finder = { .find = find_one };
	struct crit_summary_options options = { .finder = &finder };
	struct crit_summary summary;
	const char *place;
	size_t count;

	CHECK_INT_EQ(wide_sample_init(&sample, 2, WIDE_CXX), 0);
	options.call_sites = sample.call_sites;
	finder.user = (void *)crit_call_sites_rows(sample.call_sites, &count);
	CHECK_INT_EQ(crit_summarise(&summary, &sample.results, &options), 0);
	place = strstr(summary.sentence,
		       "reduce_over_subdomains.hpp:1417 and they are in MPI_Allreduce there;");
	CHECK_MSG(place && !strstr(strchr(place, ' '), ".hpp"), "%s", summary.sentence);
	crit_summary_fini(&summary);
	wide_sample_fini(&sample);
}

/* What has more words than there are lines for says so. */
static void test_cut(void)
{
	static const struct {
		int max;
		const char *shown;
	} rows[] = {
		{ 1, "Several words, of which not all fit in one line of sixty ...\n" },
		{ 2, "Several words, of which not all fit in one line of sixty or\nso columns.\n" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct crit_screen_options options = { .columns = 60,
							     .limit = CRIT_SCREEN_LINES };
		struct crit_screen *screen = crit_screen_create(&options);
		char text[256] = "";
		FILE *out = fmemopen(text, sizeof(text), "w");

		crit_screen_wrap(
			screen, CRIT_PAINT_NONE,
			"Several words, of which not all fit in one line of sixty or so columns.",
			rows[i].max);
		crit_screen_write(screen, out);
		(void)fclose(out);
		CHECK_STR_EQ(text, rows[i].shown);
		crit_screen_destroy(screen);
	}
}

/* Calls name the rank that they wait for, where there is one. */
static void test_no_ranks(void)
{
	struct wide_sample sample;
	char *text;

	if (!CHECK_INT_EQ(wide_sample_init(&sample, 2, WIDE_CXX), 0))
		return;
	text = screen_of(&sample.summary, 80);
	CHECK(strstr(text, "waits for\n") && strstr(text, "  rank 0\n"));
	free(text);
	sample.results.has_ranks = false;
	for (size_t i = 0; i < sample.results.call_count; i++)
		sample.results.calls[i].top_rank_row = -1;
	text = screen_of(&sample.summary, 80);
	CHECK(strstr(text, "waiting s\nMPI_Allreduce "));
	CHECK(!strstr(text, "rank -"));
	free(text);
	wide_sample_fini(&sample);
}

int main(void)
{
	test_summary();
	test_one_place();
	test_cut();
	test_spread();
	test_program();
	test_no_zeros();
	test_bare_names();
	test_names_asked();
	test_location_fit();
	test_golden();
	test_widths();
	test_no_ranks();
	return check_done();
}
