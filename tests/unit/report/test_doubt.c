// SPDX-License-Identifier: BSD-3-Clause
// What a report says of unknown time and of service threads, only what lies inside the window; and
// of memory maps that were missed; and that nothing is lost so far.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/findings/summarise.h"
#include "report/pages/report_text.h"
#include "report/tables/summary.h"
#include "core/base/call.h"
#include "tests/lib/analysed.h"
#include "tests/lib/check.h"
#include "tests/maker/acts.h"
#include "tests/maker/maker.h"

#define MS CRIT_ACT_MS
#define ROOT CRIT_ACT_ROOT
#define SERVICE 101u
#define OPEN (100 * MS) /* the rank's part of the window; before it lies its setup */
#define CLOSE (200 * MS)

static struct crit_results *results;
static struct crit_summary summary;

/* Lines of the report that say text. */
static size_t count_said(const char *text)
{
	size_t count = 0;

	for (size_t i = 0; i < summary.missing_count; i++)
		count += strstr(summary.missing[i].what, text) != NULL;
	return count;
}

static void summarise(struct crit_maker *m)
{
	const struct crit_summary_options options = { .is_live = true };

	results = crit_analysed_finish(&m, 1, CRIT_ACTIVE_DEFAULT);
	CHECK_INT_EQ(crit_summarise(&summary, results, &options), 0);
}

static void forget(void)
{
	crit_summary_fini(&summary);
	crit_results_destroy(results);
}

/* A rank whose main thread gets its CPU twice: it is unknown in between. */
static void doubt(uint64_t from_ns, uint64_t to_ns)
{
	struct crit_maker *m = crit_act_begin("node0");
	uint32_t stream;

	crit_act_enrol(m, 1 * MS, ROOT);
	stream = crit_act_rank(m, ROOT, 0, OPEN);
	crit_act_out(m, from_ns - 1, ROOT, 0, 0);
	crit_act_in(m, from_ns, ROOT, 0);
	crit_act_in(m, to_ns, ROOT, 0);
	crit_act_close(m, ROOT, stream, CLOSE);
	summarise(m);
}

static void test_unknown(void)
{
	const struct {
		uint64_t from_ns, to_ns;
		bool is_told, is_incomplete;
	} rows[] = {
		{ 10 * MS, 90 * MS, false, false }, /* setup */
		{ 50 * MS, OPEN + MS / 20, false, false }, /* of these in the window 0.05 % */
		{ 150 * MS, 150 * MS + MS / 20, false, false },
		{ 50 * MS, OPEN + MS / 2, true, false },
		{ 150 * MS, 150 * MS + MS / 2, true, false },
		{ 50 * MS, OPEN + 2 * MS, true, true },
		{ 150 * MS, 152 * MS, true, true },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CHECK_CASE("row %zu", i);
		doubt(rows[i].from_ns, rows[i].to_ns);
		CHECK_UINT_EQ(results->losses.unknown_ns, rows[i].to_ns - rows[i].from_ns);
		CHECK_UINT_EQ(results->losses.unmatched_switches, 1);
		CHECK_UINT_EQ(count_said("in state unknown"), rows[i].is_told);
		CHECK_INT_EQ(summary.is_incomplete, rows[i].is_incomplete);
		forget();
	}
	CHECK_CASE("%s", "the share is of the window");
	doubt(150 * MS, 152 * MS);
	CHECK_UINT_EQ(count_said("0.002 s (2.00%) of threads' time in state unknown"), 1);
	forget();
}

/* The MPI library's thread, born in MPI_Init; on CPU 1 but while it sleeps. */
static void serve(uint64_t sleep_ns, uint64_t wake_ns)
{
	struct crit_maker *m = crit_act_begin("node0");
	uint32_t stream;

	crit_act_enrol(m, 1 * MS, ROOT);
	stream = crit_act_rank(m, ROOT, 0, OPEN);
	crit_maker_fork(m,
			(struct crit_kernel_fork){
				.head = { .time_ns = 10 * MS },
				.parent_tid = ROOT,
				.parent_tgid = ROOT,
				.parent_tag = crit_tag_pack(1, 0, CRIT_MPI_Init, CRIT_CLASS_MPI, 0),
				.tid = SERVICE,
				.tgid = ROOT,
				.ns_tid = SERVICE,
				.comm = "service" });
	crit_act_wake(m, 10 * MS + 1, SERVICE);
	crit_act_in(m, 10 * MS + 2, SERVICE, 1);
	crit_act_out(m, sleep_ns, SERVICE, 1, CRIT_ACT_SLEEPING);
	crit_act_wake(m, wake_ns, SERVICE);
	crit_act_in(m, wake_ns, SERVICE, 1);
	crit_act_close(m, ROOT, stream, CLOSE);
	summarise(m);
	CHECK_INT_EQ(crit_analysed_thread(results, SERVICE)->role, CRIT_THREAD_SERVICE);
}

static void test_service(void)
{
	serve(OPEN + 2 * MS, CLOSE - 2 * MS); /* 92 ms in the setup, 4 % in the window */
	CHECK_UINT_EQ(count_said("service thread"), 0);
	forget();
	serve(OPEN + 5 * MS, CLOSE - 5 * MS);
	CHECK_UINT_EQ(count_said("service thread 101 (service) of process 100 runs for 10.0%"), 1);
	forget();
}

/* Code without names is no loss of time. */
static void test_maps(void)
{
	struct crit_maker *m = crit_act_begin("node0");
	uint32_t stream;

	crit_act_enrol(m, 1 * MS, ROOT);
	stream = crit_act_rank(m, ROOT, 0, OPEN);
	crit_maker_note(
		m,
		(struct crit_rec_note){ .time_ns = 150 * MS, .code = CRIT_NOTE_MAPS, .value = 7 },
		"memory maps");
	crit_act_close(m, ROOT, stream, CLOSE);
	summarise(m);
	CHECK_UINT_EQ(results->losses.missed_maps, 7);
	CHECK_UINT_EQ(count_said("7 memory maps of processes"), 1);
	CHECK(!summary.is_incomplete);
	forget();
}

static bool shows(const char *text)
{
	char *page;
	size_t bytes;
	FILE *out = open_memstream(&page, &bytes);
	bool is_there = false;

	CHECK(out != NULL);
	if (!out)
		return false;
	crit_write_text(out, &summary, &(struct crit_text_options){ .columns = 80 });
	(void)fclose(out);
	is_there = strstr(page, text) != NULL;
	free(page);
	return is_there;
}

/* The other rank of two may still come. */
static void test_so_far(void)
{
	struct crit_maker *m = crit_act_begin("node0");
	uint32_t stream;

	crit_act_enrol(m, 1 * MS, ROOT);
	stream = crit_act_rank(m, ROOT, 0, OPEN);
	crit_act_close(m, ROOT, stream, CLOSE);
	summarise(m);
	CHECK_UINT_EQ(summary.missing_count, 0);
	CHECK(shows("losses: none so far; not all is recorded yet"));
	forget();
}

int main(void)
{
	test_unknown();
	test_service();
	test_maps();
	test_so_far();
	return check_done();
}
