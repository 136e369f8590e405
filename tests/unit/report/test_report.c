// SPDX-License-Identifier: BSD-3-Clause
// The report writers on hand-filled results: golden files, the bounds of the first screen,
// verdicts, required keys, and output that is whole or absent.
// CRIT_GOLDEN_WRITE=1 writes the golden files anew.
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/findings/summarise.h"
#include "report/pages/report_csv.h"
#include "report/pages/report_files.h"
#include "report/pages/report_json.h"
#include "report/pages/report_text.h"
#include "report/formats/screen.h"
#include "report/tables/labels.h"
#include "core/abi/abi_shim.h"
#include "core/base/err.h"
#include "tests/lib/check.h"
#include "tests/unit/report/results_sample.h"

#ifndef DATA_DIR
#error "DATA_DIR says where the golden files are"
#endif

static struct results_sample sample;
static struct crit_summary summary;
static struct crit_call_sites *call_sites;

/* All code is one line, wherever it was loaded. */
static void find_place(void *user, uint32_t node, uint32_t pid, uint64_t address,
		       struct crit_source_location *ret_place)
{
	(void)user;
	(void)node;
	(void)pid;
	*ret_place = (struct crit_source_location){ .module = "/opt/bin/hybrid",
						    .offset = address & 0xfff,
						    .function = "step",
						    .file = "/src/stencil.c",
						    .line = 42 };
}

static const struct crit_region_finder finder = { .find = find_place };

static void summarise(void)
{
	struct crit_summary_options options = { .critd_path = "/opt/bin/critd", .finder = &finder };

	crit_call_sites_destroy(call_sites);
	call_sites = crit_call_sites_create(NULL, &sample.results);
	options.call_sites = call_sites;
	CHECK(call_sites != NULL);
	CHECK_INT_EQ(crit_summarise(&summary, &sample.results, &options), 0);
}

static char *text_of(bool is_first_screen_only)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	crit_write_text(out, &summary,
			&(struct crit_text_options){ .is_first_screen_only =
							     is_first_screen_only });
	(void)fclose(out);
	return text;
}

static char *read_file(const char *path)
{
	FILE *in = fopen(path, "r");
	char *text = calloc(1, 1 << 20);

	if (in && text)
		(void)!fread(text, 1, (1 << 20) - 1, in);
	if (in)
		(void)fclose(in);
	return text;
}

static void compare_golden(const char *name, const char *text)
{
	char path[512];
	char *golden;

	(void)snprintf(path, sizeof(path), "%s/%s", DATA_DIR, name);
	if (getenv("CRIT_GOLDEN_WRITE")) {
		FILE *out = fopen(path, "w");

		if (out) {
			(void)fputs(text, out);
			(void)fclose(out);
		}
	}
	golden = read_file(path);
	CHECK_MSG(strcmp(golden, text) == 0, "%s differs from what is written now:\n%s", name,
		  text);
	free(golden);
}

static void check_screen(void)
{
	char *text = text_of(true);
	int lines = 0;
	size_t length = 0;

	for (const char *p = text; *p; p++) {
		length++;
		if (*p == '\n') {
			CHECK_INT_LE(length - 1, CRIT_SCREEN_COLUMNS);
			length = 0;
			lines++;
		}
	}
	CHECK_INT_LE(lines, CRIT_SCREEN_LINES);
	CHECK_INT_GE(lines, 8);
	free(text);
}

static void test_golden(void)
{
	char *text;
	size_t size = 0;
	FILE *out;

	results_sample_barriers(&sample);
	summarise();
	CHECK_INT_EQ(summary.verdict, CRIT_VERDICT_IMBALANCE);
	CHECK_NEAR(summary.lost.gain_s, 0.4, 1e-12);
	CHECK(!summary.is_incomplete);
	check_screen();
	text = text_of(false);
	compare_golden("barriers.txt", text);
	free(text);
	out = open_memstream(&text, &size);
	CHECK_INT_EQ(crit_write_json(out, &summary), 0);
	(void)fclose(out);
	compare_golden("barriers.json", text);
	free(text);
	out = open_memstream(&text, &size);
	crit_csv_write(crit_csv_find("ranks"), out, &summary);
	crit_csv_write(crit_csv_find("threads"), out, &summary);
	(void)fclose(out);
	compare_golden("barriers.csv", text);
	free(text);
	out = open_memstream(&text, &size);
	crit_csv_write(crit_csv_find("calls"), out, &summary);
	crit_csv_write(crit_csv_find("rank_calls"), out, &summary);
	crit_csv_write(crit_csv_find("sites"), out, &summary);
	(void)fclose(out);
	compare_golden("calls.csv", text);
	free(text);
	crit_summary_fini(&summary);

	results_sample_threads(&sample);
	summarise();
	check_screen();
	text = text_of(false);
	compare_golden("threads.txt", text);
	free(text);
	crit_summary_fini(&summary);
}

static void test_golden_hybrid(void)
{
	char *text;
	size_t size = 0;
	FILE *out;

	results_sample_hybrid(&sample);
	/* who takes a CPU is hidden, unless it is perf events that cannot say */
	sample.results.preemptor_count = 1;
	sample.preemptors[0] = (struct crit_preemptor_row){
		.by_thread = -1, .kind = CRIT_PREEMPTOR_HIDDEN, .count = 103, .lost_ns = 400000000
	};
	summarise();
	CHECK(strstr(summary.preempted_note, "(100%) by another user's program, 103 times"));
	crit_summary_fini(&summary);
	sample.nodes[0].kernel_half = CRIT_HALF_PERF;
	summarise();
	CHECK(strstr(summary.preempted_note, "(100%) by somebody perf events do not name, 103"));
	crit_summary_fini(&summary);
	sample.nodes[0].kernel_half = CRIT_HALF_BPF;
	sample.preemptors[0].count = 0;
	summarise();
	CHECK(strstr(summary.preempted_note, "(100%) by another user's program."));
	crit_summary_fini(&summary);

	sample.results.preemptor_count = 2;
	sample.preemptors[0] = (struct crit_preemptor_row){ .by_thread = -1,
							    .kind = CRIT_PREEMPTOR_STRANGER,
							    .tid = 812,
							    .name = "stress",
							    .count = 103,
							    .lost_ns = 400000000 };
	sample.preemptors[1] =
		(struct crit_preemptor_row){ .by_thread = 2, .count = 2, .lost_ns = 10000000 };
	summarise();
	CHECK_INT_EQ(summary.verdict, CRIT_VERDICT_IMBALANCE);
	CHECK(strstr(summary.sentence, "Rank 0 on node1 has 1.4 times the mean work"));
	CHECK(strstr(summary.sentence, "its thread 1000 (hybrid)"));
	CHECK(strstr(summary.sentence, "step stencil.c:42"));
	CHECK(strstr(summary.sentence, "MPI_Barrier"));
	CHECK(strstr(summary.preempted_note, "rank 0 had work to do for 0.410 s"));
	CHECK(strstr(summary.preempted_note, "0.400 s of that (98%) by stress (tid 812), 103"));
	check_screen();
	text = text_of(false);
	compare_golden("hybrid.txt", text);
	free(text);
	out = open_memstream(&text, &size);
	CHECK_INT_EQ(crit_write_json(out, &summary), 0);
	(void)fclose(out);
	compare_golden("hybrid.json", text);
	free(text);
	out = open_memstream(&text, &size);
	crit_csv_write(crit_csv_find("regions"), out, &summary);
	(void)fclose(out);
	compare_golden("hybrid.csv", text);
	free(text);
	crit_summary_fini(&summary);
}

/* "a.b[].c" in root; every element of a list must have it, and the list must not be empty. */
static bool has_path(const json_t *value, const char *path)
{
	char key[64];
	size_t length = strcspn(path, ".[");
	const json_t *found;
	size_t i;
	const json_t *element;

	(void)snprintf(key, sizeof(key), "%.*s", (int)length, path);
	found = json_object_get(value, key);
	if (!found)
		return false;
	path += length;
	if (*path == '\0')
		return true;
	if (*path == '.')
		return has_path(found, path + 1);
	path += 2; /* "[]" */
	json_array_foreach(found, i,
			   element) if (*path == '.' && !has_path(element, path + 1)) return false;
	return json_is_array(found) && (i > 0 || *path == '\0');
}

static void test_required_keys(void)
{
	char path[512];
	char *json;
	char *list;
	char *line;
	char *rest;
	size_t size = 0;
	FILE *out = open_memstream(&json, &size);
	json_t *root;
	int count = 0;

	results_sample_barriers(&sample);
	summarise();
	CHECK_INT_EQ(crit_write_json(out, &summary), 0);
	(void)fclose(out);
	root = json_loads(json, 0, NULL);
	CHECK(root != NULL);
	(void)snprintf(path, sizeof(path), "%s/required-keys.txt", DATA_DIR);
	list = read_file(path);
	for (line = strtok_r(list, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		CHECK_MSG(has_path(root, line), "report.json lacks %s", line);
		count++;
	}
	CHECK_INT_GE(count, 59);
	CHECK(!has_path(root, "job.nothing"));
	json_decref(root);
	free(json);
	free(list);
	crit_summary_fini(&summary);
}

static void test_may_wait(void)
{
	struct crit_summary_options options = { .critd_path = NULL };

	results_sample_barriers(&sample);
	for (size_t i = 0; i < sample.results.rank_count; i++)
		sample.ranks[i].may_wait_cmetric = sample.ranks[i].run.cmetric[CRIT_UNIT_RANKS];
	sample.ranks[1].may_wait_cmetric += (crit_fix)1100000000 << 64;
	CHECK_INT_EQ(crit_summarise(&summary, &sample.results, &options), 0);
	CHECK_STR_EQ(summary.may_wait_note, ""); /* too little time in MPI_Send */
	crit_summary_fini(&summary);
	sample.ranks[0].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_MPI_MAY_WAIT] = 90000000;
	CHECK_INT_EQ(crit_summarise(&summary, &sample.results, &options), 0);
	CHECK(strstr(summary.may_wait_note, "rank 1 comes first") != NULL);
	check_screen();
	crit_summary_fini(&summary);
	sample.ranks[1].may_wait_cmetric = sample.ranks[1].run.cmetric[CRIT_UNIT_RANKS];
	CHECK_INT_EQ(crit_summarise(&summary, &sample.results, &options), 0);
	CHECK_STR_EQ(summary.may_wait_note, "");
	crit_summary_fini(&summary);
}

static void lose_kernel_half(enum crit_kernel_half half, int perf_status, int paranoid)
{
	sample.nodes[0].kernel_half = half;
	sample.nodes[0].kernel_status = -EPERM;
	sample.nodes[0].perf_status = perf_status;
	sample.nodes[0].perf_paranoid = paranoid;
}

/* Without privileges the first lines say what is approximate or missing, and what fixes it. */
static void test_without_privileges(void)
{
	static const char setcap[] = "fix: sudo setcap cap_bpf,cap_perfmon+p /opt/bin/critd";
	static const struct {
		enum crit_kernel_half half;
		int perf_status, paranoid;
		const char *mode, *missing, *sysctl;
	} rows[] = {
		{ CRIT_HALF_PERF, 1, 2, "mode: approximate;",
		  "missing: wakeups on node1: approximate without privileges", NULL },
		{ CRIT_HALF_NONE, -EACCES, 3, "mode: shims only;",
		  "missing: an approximate kernel half on node1: kernel.perf_event_paranoid is 3\n",
		  "fix: sudo sysctl kernel.perf_event_paranoid=2\n" },
		{ CRIT_HALF_NONE, -EPERM, 2, "mode: shims only;", "no perf events: Operation",
		  NULL },
		{ CRIT_HALF_NONE, -EMFILE, 2, "mode: shims only;", "fix: ulimit -n <more>\n",
		  NULL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text;

		CHECK_CASE("row %zu", i);
		results_sample_barriers(&sample);
		lose_kernel_half(rows[i].half, rows[i].perf_status, rows[i].paranoid);
		summarise();
		CHECK(!summary.is_incomplete);
		text = text_of(true);
		CHECK(strstr(text, rows[i].mode) != NULL);
		CHECK(strstr(text, rows[i].missing) != NULL);
		CHECK(strstr(text, setcap) != NULL);
		CHECK((strstr(text, "sysctl") != NULL) == (rows[i].sysctl != NULL));
		CHECK(!rows[i].sysctl || strstr(text, rows[i].sysctl) != NULL);
		free(text);
		check_screen();
		crit_summary_fini(&summary);
	}
}

/* Everything that can be lost at once still fits the screen, and says so by its exit code. */
static void test_missing(void)
{
	char *text;

	results_sample_barriers(&sample);
	lose_kernel_half(CRIT_HALF_NONE, 0, 0);
	summarise();
	CHECK_INT_EQ(summary.mode, CRIT_MODE_SHIMS_ONLY);
	CHECK(!summary.is_incomplete);
	text = text_of(true);
	CHECK(strstr(text, "mode: shims only") != NULL);
	CHECK(strstr(text, "sudo setcap cap_bpf,cap_perfmon+p /opt/bin/critd") != NULL);
	free(text);
	crit_summary_fini(&summary);

	results_sample_hybrid(&sample); /* a full screen without that */
	sample.nodes[0].kernel_status = -EPERM;
	sample.nodes[0].cap_ns = sample.results.window_begin_ns + 1000;
	sample.nodes[0].output_error = -ENOSPC;
	memset(&sample.results.losses, 1, sizeof(sample.results.losses));
	summarise();
	CHECK(summary.is_incomplete);
	CHECK_INT_EQ(summary.missing_count, CRIT_MISSING_MAX);
	check_screen();
	text = text_of(true);
	CHECK(strstr(text, "see Losses below") != NULL);
	free(text);
	crit_summary_fini(&summary);
}

static void test_exit_code_of_each_loss(void)
{
	for (size_t i = 0; i < sizeof(struct crit_losses) / sizeof(uint64_t); i++) {
		uint64_t *word = (uint64_t *)&sample.results.losses + i;
		bool is_harmless;

		results_sample_barriers(&sample);
		is_harmless = word == &sample.results.losses.tag_stale ||
			      word == &sample.results.losses.folded_ns ||
			      word == &sample.results.losses.unknown_ns || /* 1 ns is below 1 % */
			      word == &sample.results.losses.truncated_bytes || /* its node's */
			      word == &sample.results.losses.missing_chunks ||
			      word == &sample.results.losses.missed_maps || /* names only */
			      word == &sample.results.losses.wakes_early ||
			      word == &sample.results.losses.unmatched_switches;
		*word = 1;
		summarise();
		CHECK_MSG(summary.is_incomplete == !is_harmless, "loss %zu: incomplete %d", i,
			  summary.is_incomplete);
		crit_summary_fini(&summary);
	}
}

/* What a recording lacks is told of its node. */
static void test_damage_of_a_node(void)
{
	const struct {
		size_t offset;
		const char *what;
	} rows[] = {
		{ offsetof(struct crit_node_row, corrupt_chunks),
		  "1 chunk with a wrong checksum in the recording on " },
		{ offsetof(struct crit_node_row, truncated_bytes),
		  "1 bytes cut at the end of the recording on " },
		{ offsetof(struct crit_node_row, missing_chunks),
		  "1 chunk missing in the middle of the recording on " },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *text;

		results_sample_barriers(&sample);
		*(uint64_t *)((char *)&sample.nodes[0] + rows[i].offset) = 1;
		sample.results.losses.corrupt_chunks = sample.nodes[0].corrupt_chunks;
		summarise();
		CHECK_MSG(summary.is_incomplete, "%s", rows[i].what);
		CHECK_INT_EQ(summary.missing_count, 1);
		text = text_of(true);
		CHECK_MSG(strstr(text, rows[i].what) != NULL, "%s", rows[i].what);
		free(text);
		crit_summary_fini(&summary);
	}
	results_sample_barriers(&sample);
	sample.nodes[0].is_unread = true;
	summarise();
	CHECK(summary.is_incomplete);
	CHECK(strstr(summary.missing[0].what, "nothing in its recording can be read") != NULL);
	crit_summary_fini(&summary);
}

static void test_unknown_kinds(void)
{
	char *text;

	results_sample_barriers(&sample);
	sample.results.losses.unknown_chunks = 2;
	sample.results.losses.unknown_records = 30;
	summarise();
	CHECK(summary.is_incomplete);
	CHECK_INT_EQ(summary.missing_count, 1);
	text = text_of(true);
	CHECK(strstr(text, "2 chunks and 30 records of kinds that this version of crit does not") !=
	      NULL);
	free(text);
	crit_summary_fini(&summary);
}

/* Without kernel half and ranks there is nothing; the report says so, and is no success. */
static void test_nothing(void)
{
	results_sample_threads(&sample);
	lose_kernel_half(CRIT_HALF_NONE, 0, 0);
	summarise();
	CHECK_INT_EQ(summary.verdict, CRIT_VERDICT_NOTHING);
	CHECK(strstr(summary.sentence, "Nothing to judge") != NULL);
	CHECK(summary.is_incomplete);
	check_screen();
	crit_summary_fini(&summary);
}

static void test_mpi_name(void)
{
	char text[64];

	results_sample_barriers(&sample);
	CHECK_STR_EQ(crit_mpi_label(&sample.results, text, sizeof(text)), "Open MPI v4.1.4");
	(void)snprintf(sample.results.library, sizeof(sample.results.library),
		       "MPICH Version:\t4.0.2\nMPICH Release date: x");
	CHECK_STR_EQ(crit_mpi_label(&sample.results, text, sizeof(text)), "MPICH 4.0.2");
	(void)snprintf(sample.results.library, sizeof(sample.results.library),
		       "My\033MPI\177\302\233 \303\244"); /* the last is a letter */
	CHECK_STR_EQ(crit_mpi_label(&sample.results, text, sizeof(text)), "My?MPI??? \303\244");
}

/* A program may call its threads what it likes; the terminal sees no escape sequence of theirs. */
static void test_foreign_names(void)
{
	char *text;
	char *json;
	size_t size = 0;
	FILE *out = open_memstream(&json, &size);
	json_t *root;

	results_sample_threads(&sample);
	(void)snprintf(sample.threads[0].name, sizeof(sample.threads[0].name), "\033[2J\xff\"\\");
	(void)snprintf(sample.results.exe, sizeof(sample.results.exe), "/bin/\033]0;x\007");
	summarise();
	text = text_of(false);
	CHECK(strchr(text, '\033') == NULL);
	CHECK(strchr(text, '\007') == NULL);
	CHECK(strstr(text, "?[2J") != NULL);
	free(text);
	CHECK_INT_EQ(crit_write_json(out, &summary), 0);
	(void)fclose(out);
	root = json_loads(json, 0, NULL);
	CHECK(root != NULL);
	json_decref(root);
	free(json);
	crit_summary_fini(&summary);
}

static int count_files(const char *directory)
{
	static const char *const names[] = {
		"report.txt",       "report.json",         "ranks.csv",
		"threads.csv",      "messages.csv",        "collectives.csv",
		"report.txt.tmp",   "report.json.tmp",     "regions.csv",
		"regions.csv.tmp",  "ranks.csv.tmp",       "threads.csv.tmp",
		"messages.csv.tmp", "collectives.csv.tmp", "calls.csv",
		"sites.csv",        "rank_calls.csv",      "hot.csv",
	};
	int count = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char path[128];

		(void)snprintf(path, sizeof(path), "%s/%s", directory, names[i]);
		count += access(path, F_OK) == 0;
		(void)unlink(path);
	}
	return count;
}

/* Where a table cannot be put into place, no report.json stands beside those of two reports. */
static void check_mixture(int fd, const char *directory)
{
	struct crit_err err = { { 0 } };

	CHECK_INT_EQ(crit_report_files_write(fd, directory, &summary, &err), 0);
	CHECK_INT_EQ(unlinkat(fd, "rank_calls.csv", 0), 0);
	CHECK_INT_EQ(mkdirat(fd, "rank_calls.csv", 0700), 0);
	CHECK_INT_LT(crit_report_files_write(fd, directory, &summary, &err), 0);
	CHECK(strstr(err.text, "cannot put rank_calls.csv into place") != NULL);
	CHECK(faccessat(fd, "report.txt", F_OK, 0) == 0);
	CHECK(faccessat(fd, "report.json", F_OK, 0) != 0);
	CHECK_INT_EQ(unlinkat(fd, "rank_calls.csv", AT_REMOVEDIR), 0);
	CHECK_INT_EQ(crit_report_files_write(fd, directory, &summary, &err), 0);
	CHECK_INT_EQ(count_files(directory), 11);
}

static void test_output(void)
{
	char directory[] = "/tmp/crit-test-XXXXXX";
	struct crit_err err = { { 0 } };
	char path[128];
	int fd;

	if (!CHECK(mkdtemp(directory) != NULL))
		return;
	fd = open(directory, O_DIRECTORY | O_CLOEXEC);
	results_sample_barriers(&sample);
	summarise();
	CHECK_INT_EQ(crit_report_files_write(fd, directory, &summary, &err), 0);
	CHECK_INT_EQ(count_files(directory), 11);
	/* A directory in the place of the last file: nothing is left half-written. */
	(void)snprintf(path, sizeof(path), "%s/report.json.tmp", directory);
	CHECK_INT_EQ(mkdir(path, 0700), 0);
	CHECK_INT_LT(crit_report_files_write(fd, directory, &summary, &err), 0);
	CHECK(strstr(err.text, "report.json") != NULL);
	CHECK_INT_EQ(rmdir(path), 0);
	CHECK_INT_EQ(count_files(directory), 0);
	check_mixture(fd, directory);
	close(fd);
	CHECK_INT_EQ(rmdir(directory), 0);
	fd = open("/proc/self", O_DIRECTORY | O_CLOEXEC); /* unwritable for everybody */
	CHECK_INT_LT(crit_report_files_write(fd, "/proc/self", &summary, &err), 0);
	CHECK(strstr(err.text, "cannot write /proc/self/report.txt") != NULL);
	close(fd);
	crit_summary_fini(&summary);
}

int main(void)
{
	test_golden();
	test_golden_hybrid();
	test_required_keys();
	test_may_wait();
	test_without_privileges();
	test_missing();
	test_exit_code_of_each_loss();
	test_damage_of_a_node();
	test_unknown_kinds();
	test_nothing();
	test_mpi_name();
	test_foreign_names();
	test_output();
	crit_call_sites_destroy(call_sites);
	return check_done();
}
