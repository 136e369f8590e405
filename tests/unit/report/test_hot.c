// SPDX-License-Identifier: BSD-3-Clause
// Hot lines, functions and libraries of a hand-filled run, what the verdict says of them, and the
// files that have them.
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "report/findings/summarise.h"
#include "report/pages/annotate_text.h"
#include "report/pages/hot_text.h"
#include "report/pages/report_csv.h"
#include "report/pages/report_json.h"
#include "report/pages/report_text.h"
#include "tests/lib/check.h"
#include "tests/unit/report/results_sample.h"

#define SECOND ((crit_fix)1000000000 << 64)
#define PARTS 20 /* of a second of CMetric, so that all sums are whole */
#define BATCHES CRIT_SAMPLE_BATCHES

static struct results_sample sample;
static struct crit_sample_row rows[8];
static crit_fix not_sampled[SAMPLE_THREADS_MAX];

static const struct crit_source_frame inlined[] = { { "inner", "i.h", 5 }, { "relax", "a.c", 12 } };

static const struct {
	uint64_t address;
	struct crit_source_location place;
} places[] = {
	{ 0x10, { .module = "/bin/solver", .function = "relax", .file = "a.c", .line = 10 } },
	{ 0x11, { .module = "/bin/solver", .function = "relax", .file = "a.c", .line = 11 } },
	{ 0x20, { .module = "/bin/solver", .function = "fill", .file = "a.c", .line = 40 } },
	{ 0x21,
	  { .module = "/bin/solver",
	    .function = "inner",
	    .outer = "relax",
	    .file = "i.h",
	    .line = 5,
	    .frames = inlined,
	    .frame_count = 2 } },
	{ 0x30, { .module = "/lib/libm.so.6", .function = "exp" } },
	{ 0x40, { .module = "/lib/libz.so.1", .offset = 0x4042, .function_begin = 0x4000 } },
	{ 0x41, { .module = "/lib/libz.so.1", .offset = 0x4f01, .function_begin = 0x4000 } },
	{ 0x42, { .module = "/lib/libz.so.1", .offset = 0x5010, .function_begin = 0x5000 } },
	{ 0x43, { .module = "/lib/libz.so.1", .offset = 0x9000 } },
	{ 0x50, { .module = "/bin/solver", .function = "gomp_barrier_wait_end" } },
	{ 0x51,
	  { .module = "/bin/solver", .function = "do_spin", .outer = "gomp_team_barrier_wait" } },
	{ 0x52, { .module = "/lib/libgomp.so.1", .function = "gomp_barrier_wait_end" } },
	{ 0x53, { .module = "/bin/solver", .function = "MPIDI_progress_test" } },
	{ 0x54, { .module = "/lib/libmpich.so.12", .function = "MPIDI_progress_test" } },
};

static void find_place(void *user, uint32_t node, uint32_t pid, uint64_t address,
		       struct crit_source_location *ret_place)
{
	(void)user;
	(void)node;
	(void)pid;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (places[i].address == address) {
			*ret_place = places[i].place;
			ret_place->offset = address;
		}
}

static void add(uint32_t thread, uint64_t address, unsigned int parts, float error_s)
{
	struct crit_sample_results *samples = &sample.results.samples;
	struct crit_sample_row *row = &rows[samples->row_count++];

	*row = (struct crit_sample_row){ .address = address,
					 .thread = thread,
					 .count = 10 * parts,
					 .cmetric = parts * (SECOND / PARTS),
					 .cpu_ns = 1000ull * parts };
	for (uint32_t i = 0; i < BATCHES; i++)
		row->error_s[i] = i % 2 ? -error_s : error_s;
	samples->count += row->count;
}

/* Of rank 0's second relax has 13 or 8 parts, exp 3 or 8; rank 1 has 0.2 s, all in line 10. */
static void fill(unsigned int relax, unsigned int exp, float error_s)
{
	results_sample_barriers(&sample);
	sample.results.samples = (struct crit_sample_results){ .rows = rows,
							       .not_sampled = not_sampled,
							       .batch_count = BATCHES };
	add(0, 0x10, relax - 1, error_s);
	add(0, 0x11, 1, -error_s / 2);
	add(0, 0x20, 2, 0);
	add(0, 0x30, exp, -error_s / 2);
	add(0, 0x999, 1, 0);
	add(1, 0x10, 4, 0);
	not_sampled[0] = SECOND / PARTS;
}

static struct crit_hot_table table_of(enum crit_hot_level level, bool is_of_unit)
{
	const struct crit_region_finder finder = { .find = find_place };
	const struct crit_hot_query query = { .level = level, .is_of_unit = is_of_unit };
	struct crit_hot_table table;

	CHECK_INT_EQ(crit_hot_table_init(&table, &sample.results, &finder, &query), 0);
	return table;
}

static void check_sum(const struct crit_hot_table *table, unsigned int parts)
{
	crit_fix sum = 0;
	double share = 0, cpu_share = 0;

	for (size_t i = 0; i < table->count; i++) {
		sum += table->rows[i].cmetric;
		share += table->rows[i].share;
		cpu_share += table->rows[i].cpu_share;
	}
	CHECK(sum == parts * (SECOND / PARTS));
	CHECK_REL(share, 1, 1e-12, 0);
	CHECK_REL(cpu_share, 1, 1e-12, 0);
}

static void check_row(const struct crit_hot_table *table, size_t index, const char *name,
		      unsigned int parts, double error_s)
{
	const struct crit_hot_row *row = &table->rows[index];
	char text[128];

	CHECK_CASE("%s", name);
	if (!CHECK(table->count > index))
		return;
	CHECK_STR_EQ(crit_hot_text(row, text, sizeof(text)), name);
	CHECK(row->cmetric == parts * (SECOND / PARTS));
	CHECK_REL(row->error_s, error_s, 1e-6, 1e-6);
	CHECK_UINT_EQ(row->samples, row->kind == CRIT_HOT_NOT_SAMPLED ? 0 : 10 * parts);
	CHECK_CASE("%s", "");
}

/* Residuals of +-x in each of B batches: a standard error of x B / sqrt(B - 1). */
static double error_of(double x)
{
	return x * BATCHES / sqrt(BATCHES - 1);
}

static void test_levels(void)
{
	struct crit_hot_table table;

	fill(13, 3, 0.002f);
	table = table_of(CRIT_HOT_LINE, false);
	CHECK_UINT_EQ(table.count, 6);
	check_sum(&table, 24);
	check_row(&table, 0, "relax a.c:10", 16, error_of(0.002));
	check_row(&table, 1, "exp (libm.so.6)", 3, error_of(0.001));
	check_row(&table, 2, "fill a.c:40", 2, 0);
	CHECK_REL(table.rows[0].share, 16.0 / 24, 1e-12, 0);
	CHECK_REL(table.rows[0].cpu_share, 16.0 / 23, 1e-12, 0);
	crit_hot_table_fini(&table);
	table = table_of(CRIT_HOT_FUNCTION, true);
	CHECK_UINT_EQ(table.count, 5);
	check_sum(&table, 20);
	check_row(&table, 0, "relax (solver)", 13, error_of(0.001));
	CHECK_UINT_EQ(table.rows[0].place.line, 10);
	crit_hot_table_fini(&table);
	table = table_of(CRIT_HOT_LIBRARY, false);
	CHECK_UINT_EQ(table.count, 4);
	check_sum(&table, 24);
	check_row(&table, 0, "solver", 19, error_of(0.001));
	check_row(&table, 1, "libm.so.6", 3, error_of(0.001));
	check_row(&table, 2, "in no known file", 1, 0);
	check_row(&table, 3, "not sampled", 1, 0);
	crit_hot_table_fini(&table);
	rows[0].one_sample_s = 0.003f; /* less than by residuals */
	rows[2].one_sample_s = 0.004f;
	table = table_of(CRIT_HOT_LINE, false);
	check_row(&table, 0, "relax a.c:10", 16, error_of(0.002));
	check_row(&table, 2, "fill a.c:40", 2, 0.004);
	crit_hot_table_fini(&table);
	CHECK_INT_EQ(crit_hot_level_parse("library"), CRIT_HOT_LIBRARY);
	CHECK_INT_EQ(crit_hot_level_parse("path"), CRIT_HOT_LEVEL_COUNT);
}

/* A call of inner became part of relax: its code is relax's, its line is its own. */
static void test_inlined(void)
{
	const struct crit_region_finder finder = { .find = find_place };
	struct crit_hot_query query = { .function = "relax" };
	struct crit_hot_table table;

	fill(13, 3, 0);
	rows[2].address = 0x21;
	table = table_of(CRIT_HOT_LINE, false);
	check_row(&table, 2, "inner i.h:5", 2, 0);
	crit_hot_table_fini(&table);
	table = table_of(CRIT_HOT_FUNCTION, false);
	check_row(&table, 0, "relax (solver)", 19, 0);
	crit_hot_table_fini(&table);
	CHECK_INT_EQ(crit_hot_table_init(&table, &sample.results, &finder, &query), 0);
	CHECK_UINT_EQ(table.count, 3);
	check_row(&table, 0, "relax a.c:10", 16, 0);
	check_row(&table, 1, "relax a.c:12", 2, 0);
	CHECK_REL(table.rows[1].share, 2.0 / 24, 1e-12, 0);
	crit_hot_table_fini(&table);
	query.function = "inner";
	CHECK_INT_EQ(crit_hot_table_init(&table, &sample.results, &finder, &query), 0);
	CHECK_UINT_EQ(table.count, 1);
	check_row(&table, 0, "inner i.h:5", 2, 0);
	crit_hot_table_fini(&table);
}

/* Functions of a stripped library are told apart by where they begin, if that is known. */
static void test_nameless(void)
{
	struct crit_hot_table table;

	for (int level = CRIT_HOT_LINE; level <= CRIT_HOT_FUNCTION; level++) {
		fill(13, 4, 0);
		for (size_t i = 1; i < 5; i++)
			rows[i].address = 0x3f + i;
		table = table_of((enum crit_hot_level)level, false);
		CHECK_UINT_EQ(table.count, 5);
		check_row(&table, 1, "libz.so.1+0x5000", 4, 0);
		check_row(&table, 2, "libz.so.1+0x4000", 3, 0);
		check_row(&table, 3, "libz.so.1", 1, 0);
		crit_hot_table_fini(&table);
	}
}

static void summarise(struct crit_summary *summary)
{
	static const struct crit_region_finder finder = { .find = find_place };

	CHECK_INT_EQ(crit_summarise(summary, &sample.results,
				    &(struct crit_summary_options){ .finder = &finder }),
		     0);
}

static void check_sentence(const char *wanted, const char *unwanted)
{
	struct crit_summary summary;

	summarise(&summary);
	CHECK_MSG(strstr(summary.sentence, wanted), "%s", summary.sentence);
	CHECK_MSG(!strstr(summary.sentence, unwanted), "%s", summary.sentence);
	crit_summary_fini(&summary);
}

static void test_verdict(void)
{
	fill(13, 3, 0.002f);
	check_sentence("times the mean work, 65 +- 1% of its CMetric in relax (solver), "
		       "60 +- 1% at a.c:10; the others",
		       "mostly in relax");
	fill(13, 3, 0.09f); /* relax 50 +- 52 % more than exp, 55 +- 26 % more than fill */
	check_sentence(
		"times the mean work, mostly in relax (solver) or exp (libm.so.6); the others",
		"CMetric");
	fill(13, 3, 0.1f); /* 55 +- 29 % more than fill */
	check_sentence("times the mean work; the others", "relax");
	fill(10, 8, 0.0125f); /* 0.5 s +- 0.036 s and 0.4 s, 0.1 s +- 0.072 s apart */
	check_sentence(", mostly in relax (solver) or exp (libm.so.6)", "CMetric");
	fill(13, 3, 0.002f);
	rows[3].one_sample_s = 0.3f; /* two more would change who is first */
	check_sentence("times the mean work; the others", "relax");
	fill(8, 8, 0.002f);
	check_sentence(", mostly in ", "CMetric");
	sample.results.samples.batch_count = 5; /* of which nobody knows how they scatter */
	check_sentence("times the mean work; the others", "relax");
	fill(13, 3, 0.002f);
	for (size_t i = 0; i < sample.results.samples.row_count; i++)
		rows[i].count /= 10;
	check_sentence("times the mean work; the others", "relax");
}

/* What is named of lines and functions that are much alike. */
static void test_alike(void)
{
	fill(13, 3, 0.002f);
	rows[0].cmetric = rows[1].cmetric = 13 * (SECOND / PARTS) / 2;
	check_sentence(", 65 +- 1% of its CMetric in relax a.c:10 or 11; the others", "(solver)");
	fill(13, 3, 0.002f);
	rows[1].address = 0x10;
	check_sentence(", 65 +- 1% of its CMetric in relax a.c:10; the others", "(solver)");
	rows[0].address = rows[1].address = 0x21; /* all of it was inlined */
	check_sentence(", 65 +- 1% of its CMetric in relax i.h:5 (relax > inner); the others",
		       "a.c:12");
	fill(7, 5, 0.002f); /* 37, 26, 26 % */
	rows[2].cmetric = 5 * (SECOND / PARTS);
	check_sentence(" of its CMetric in relax", "mostly in relax");
	fill(5, 5, 0.002f); /* three with 29 % each */
	rows[2].cmetric = 5 * (SECOND / PARTS);
	check_sentence("times the mean work; the others", "relax");
	fill(6, 6, 0.002f); /* two with 50 % together, and no third has as much as one */
	not_sampled[0] = rows[4].cmetric = 5 * (SECOND / PARTS);
	check_sentence("times the mean work; the others", "relax");
}

/* What is missing of a runtime whose functions have all of exp's samples, or none. */
static void check_linked(uint64_t address, unsigned int parts, const char *wanted)
{
	struct crit_summary summary;

	fill(13, parts, 0.002f);
	rows[3].address = address;
	summarise(&summary);
	CHECK_UINT_EQ(summary.missing_count, wanted != NULL);
	if (wanted && summary.missing_count) {
		CHECK_STR_EQ(summary.missing[0].what, wanted);
		CHECK_STR_EQ(summary.missing[0].fix, "link it as a shared library");
		CHECK(!summary.missing[0].is_incomplete);
	}
	crit_summary_fini(&summary);
}

/* The spinning of a runtime that was linked into a program is told by samples alone. */
static void test_linked(void)
{
	check_linked(0x30, 3, NULL);
	check_linked(0x50, 3,
		     "calls of GNU's libgomp, which is part of solver: its time counts as the "
		     "program's own, its waiting as work (0.000 s by samples, most in "
		     "gomp_barrier_wait_end)");
	check_linked(0x51, 1,
		     "calls of GNU's libgomp, which is part of solver: its time counts as the "
		     "program's own, its waiting as work (0.000 s by samples, most in "
		     "gomp_team_barrier_wait)");
	check_linked(0x52, 3, NULL);
	check_linked(0x53, 3,
		     "calls of an MPI library, which is part of solver: its time counts as the "
		     "program's own, its waiting as work (0.000 s by samples, most in "
		     "MPIDI_progress_test)");
	check_linked(0x54, 3, NULL);
	check_linked(0x50, 0, NULL); /* too few samples */
}

/* A library of MPI at work in a run without ranks: its calls did not come past crit. */
static void test_passed_by(void)
{
	struct crit_summary summary;

	for (int has_ranks = 0; has_ranks < 2; has_ranks++) {
		fill(13, 3, 0.002f);
		rows[3].address = 0x54;
		sample.results.has_ranks = has_ranks;
		summarise(&summary);
		CHECK_UINT_EQ(summary.missing_count, !has_ranks);
		if (!has_ranks && summary.missing_count)
			CHECK(strstr(summary.missing[0].what,
				     "MPI calls: crit saw none, though libmpich.so.12 ran for "));
		crit_summary_fini(&summary);
	}
}

static void find_caller(void *user, const char *path, uint64_t offset,
			struct crit_source_location *ret_place)
{
	static const char *const functions[] = { "_start", "main", "void ns::solve<int>(int)",
						 "test" };

	(void)user;
	CHECK_STR_EQ(path, offset ? "/bin/solver" : "/lib/libc.so.6");
	*ret_place = (struct crit_source_location){ .module = path, .function = functions[offset] };
}

/* Callers of relax: most by solve, one by test. */
static void fill_paths(void)
{
	static char libc[] = "/lib/libc.so.6", solver[] = "/bin/solver";
	static char *files[] = { libc, solver };
	static struct crit_path_row paths[CRIT_PATH_FIRST + 4];

	fill(13, 3, 0.002f);
	for (uint32_t i = 0; i < 4; i++)
		paths[CRIT_PATH_FIRST + i] = (struct crit_path_row){
			.offset = i,
			.file = i != 0,
			.parent = i == 0   ? (uint32_t)CRIT_PATH_COMPLETE
				  : i == 1 ? CRIT_PATH_FIRST
					   : CRIT_PATH_FIRST + 1,
		};
	sample.results.samples.paths = paths;
	sample.results.samples.path_count = CRIT_PATH_FIRST + 4;
	sample.results.samples.path_files = files;
	sample.results.samples.path_file_count = 2;
	rows[0].path = CRIT_PATH_FIRST + 2;
	rows[1].path = CRIT_PATH_FIRST + 3;
}

static void check_path(const char *wanted)
{
	static const struct crit_region_finder finder = { .find = find_place,
							  .find_in_file = find_caller };
	struct crit_summary summary;

	CHECK_INT_EQ(crit_summarise(&summary, &sample.results,
				    &(struct crit_summary_options){ .finder = &finder }),
		     0);
	CHECK_MSG(strstr(summary.sentence, wanted), "%s", summary.sentence);
	crit_summary_fini(&summary);
}

/* As far as more than half of the function's CMetric comes that way, beyond chance. */
static void test_path(void)
{
	fill_paths();
	check_path(", 60 +- 1% at a.c:10 (main > solve > relax); the others");
	rows[0].path = CRIT_PATH_FIRST + 1;
	check_path(" at a.c:10 (main > relax); the others");
	rows[0].path = CRIT_PATH_FIRST; /* of libc */
	check_path(" at a.c:10; the others");
	rows[0].path = CRIT_PATH_NONE;
	check_path(" at a.c:10; the others");
	fill_paths();
	rows[0].count = 29;
	rows[3].count = 100;
	check_path(" at a.c:10; the others");
	fill_paths();
	rows[0].cmetric = 7 * (SECOND / PARTS); /* 7 of 13: not beyond chance */
	rows[1].cmetric = 6 * (SECOND / PARTS);
	rows[1].address = 0x10;
	rows[0].one_sample_s = 0.02f;
	check_path(" in relax a.c:10; the others");
}

static char *text_of(int (*write)(FILE *out, const struct crit_summary *summary))
{
	struct crit_summary summary;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	summarise(&summary);
	CHECK_INT_EQ(write(out, &summary), 0);
	(void)fclose(out);
	crit_summary_fini(&summary);
	return text;
}

static int write_text(FILE *out, const struct crit_summary *summary)
{
	crit_write_text(out, summary, &(struct crit_text_options){ 0 });
	return 0;
}

static int write_csv(FILE *out, const struct crit_summary *summary)
{
	crit_csv_write(crit_csv_find("hot"), out, summary);
	return 0;
}

static int write_functions(FILE *out, const struct crit_summary *summary)
{
	return crit_hot_text_write_by(out, summary, CRIT_HOT_FUNCTION);
}

static void check_has(int (*write)(FILE *out, const struct crit_summary *summary), const char *part,
		      bool is_there)
{
	char *text = text_of(write);

	CHECK_MSG(!strstr(text, part) != is_there, "\"%s\":\n%s", part, text);
	free(text);
}

static void test_files(void)
{
	fill(13, 3, 0.002f);
	check_has(write_text, "    0.8000   0.0115  66.7%  69.6%      160  relax a.c:10\n", true);
	check_has(write_csv, "code,0.800000000,0.011494", true);
	check_has(write_csv, ",\"relax\",\"a.c\",10,\"/bin/solver\"\n", true);
	check_has(write_csv, "not_sampled,0.050000000,0", true);
	check_has(crit_write_json, "\"kind\": \"not_sampled\"", true);
	check_has(write_functions, "    0.8500   0.0057  70.8%  73.9%      170  relax (solver)\n",
		  true);
	check_has(write_functions, "a.c", false);
	sample.results.samples.unlisted = 3;
	check_has(write_text, "  3 samples of 230 found no room", true);
	sample.results.samples = (struct crit_sample_results){ 0 };
	check_has(write_text, "Hot lines", false);
	check_has(crit_write_json, "\"hot\": []", true);
}

static bool has_objdump;

/* relax is from 0x8 on; its samples are at 0xf and 0x10, exp's at 0x2f. */
static FILE *disassemble(void *user, const char *module, uint64_t begin, uint64_t end)
{
	static char text[] = "a.out: file format\n\n0000000000000008 <relax>:\n"
			     "       8:\tpush   %rbp\n       9:\tnop\n       a:\tnop\n"
			     "       b:\tnop\n       c:\tmulsd  %xmm0,%xmm1\n"
			     "      10:\taddsd  %xmm0,%xmm1\n      14:\tret\n";

	CHECK(strcmp(module, "/lib/libm.so.6") == 0 ? begin == 0x2f : begin == 0xf);
	CHECK(!user && end > begin + 1);
	errno = ENOENT;
	return has_objdump ? fmemopen(text, sizeof(text) - 1, "r") : NULL;
}

static void end_disassembly(void *user, FILE *in)
{
	CHECK(!user);
	(void)fclose(in);
}

static const struct crit_disassembler disassembler = { NULL, disassemble, end_disassembly };

static int write_relax(FILE *out, const struct crit_summary *summary)
{
	return crit_annotate_text_write(out, summary, "relax", &disassembler);
}

static void test_disassembly(void)
{
	fill(13, 3, 0.002f);
	has_objdump = false;
	check_has(write_relax, "no disassembly: objdump cannot be started (No such file", true);
	has_objdump = true;
	check_has(write_relax, "no disassembly", false);
	check_has(write_relax, "       8  push", false);
	check_has(write_relax, "      9  nop\n", true);
	check_has(write_relax,
		  "    0.8000           66.7%             160      c  mulsd  %xmm0,%xmm1\n",
		  true); /* 0xf is in it */
	check_has(write_relax, "    0.0500            4.2%              10     10  addsd", true);
	check_has(write_relax, "     14  ret\n", true);
}

/* The source of relax and fill, lines 1 to 12 and no more. */
static void write_source(void)
{
	FILE *out = fopen("a.c", "w");

	for (int line = 1; out && line <= 12; line++)
		fprintf(out, line == 9 ? "if x:\t\ttext %d\n" : "text %d\n", line);
	if (CHECK(out))
		(void)fclose(out);
}

static void test_annotate(void)
{
	char directory[] = "/tmp/crit-hot-XXXXXX";
	struct crit_summary summary;

	if (!CHECK(mkdtemp(directory)) || !CHECK_INT_EQ(chdir(directory), 0))
		return;
	fill(13, 3, 0.002f);
	check_has(write_relax, "relax, in a.c, which cannot be read\n", true);
	check_has(write_relax, "160     10  \n", true);
	test_disassembly();
	write_source();
	check_has(write_relax, "relax, in a.c\n", true);
	check_has(write_relax, " 6  text", false);
	check_has(write_relax, "      7  text 7\n", true);
	check_has(write_relax, "      9  if x:           text 9\n", true);
	check_has(write_relax, "    0.8000   0.0115  66.7%  69.6%      160     10  text 10\n",
		  true);
	check_has(write_relax, "    0.0500   0.0057   4.2%   4.3%       10     11  text 11\n",
		  true);
	check_has(write_relax, "     12  text 12\n", true);
	sample.results.samples.batch_count = 1;
	check_has(write_relax, "    0.8000        ?  66.7%", true);
	summarise(&summary);
	CHECK_INT_EQ(crit_annotate_text_write(stdout, &summary, "text", &disassembler), -ENOENT);
	crit_summary_fini(&summary);
	sample.results.samples = (struct crit_sample_results){ 0 };
	summarise(&summary);
	CHECK_INT_EQ(crit_annotate_text_write(stdout, &summary, "relax", &disassembler), -ENODATA);
	crit_summary_fini(&summary);
	(void)unlink("a.c");
	(void)rmdir(directory);
}

int main(void)
{
	test_levels();
	test_inlined();
	test_nameless();
	test_verdict();
	test_alike();
	test_linked();
	test_passed_by();
	test_path();
	test_files();
	test_annotate();
	return check_done();
}
