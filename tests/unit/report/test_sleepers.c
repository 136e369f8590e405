// SPDX-License-Identifier: BSD-3-Clause
// What a report says of a thread that sleeps while others wait for it, and of a rank that asks MPI
// and sleeps by turns.
#include <sys/syscall.h>

#include "core/base/call.h"
#include "report/causes/cause_rows.h"
#include "report/findings/verdict.h"
#include "tests/unit/report/test_verdict.h"

struct waiting { /* ms */
	uint64_t outside[2]; /* of threads 0 and 1, for nobody of the run */
	uint64_t for_1; /* of thread 0 */
	uint64_t busy_blocked_1; /* of what thread 1 is blocked, while somebody is active */
};

/* Two threads compute for 500 ms of a second; the rest of it both are blocked. */
static void judge(const struct waiting *waiting)
{
	struct crit_waiter_row pairs[] = {
		{ .from = { .rank = CRIT_NONE, .thread = 0 },
		  .to = { .rank = CRIT_NONE, .thread = 1 },
		  .raw_ns = waiting->for_1 * MS },
		{ .from = { .rank = CRIT_NONE, .thread = 0 },
		  .to = { .rank = CRIT_NONE, .thread = CRIT_NONE },
		  .raw_ns = waiting->outside[0] * MS },
		{ .from = { .rank = CRIT_NONE, .thread = 1 },
		  .to = { .rank = CRIT_NONE, .thread = CRIT_NONE },
		  .raw_ns = waiting->outside[1] * MS },
	};
	const struct crit_costs costs = { .wait_count = 40 };
	const struct crit_cause_table causes = { .costs = &costs, .pairs = pairs, .pair_count = 3 };

	results_sample_threads(&sample);
	sample.results.window_ns = 1000 * MS;
	sample.results.thread_count = 2;
	sample.checks[0].active_ns = 500 * MS;
	sample.checks[0].window_ns = 1000 * MS;
	for (int i = 0; i < 2; i++) {
		struct crit_cells *cells = &sample.threads[i].cells;

		*cells = (struct crit_cells){ 0 };
		cells->ns[CRIT_STATE_RUNNING][CRIT_CLASS_NONE] = 500 * MS;
		cells->ns[CRIT_STATE_BLOCKED][CRIT_CLASS_NONE] = 500 * MS;
		sample.threads[i].idle_blocked_ns = i ? waiting->busy_blocked_1 * MS : 0;
	}
	summarise();
	summary.silent_ns = 500 * MS;
	summary.sentence[0] = '\0';
	summary.causes = &causes;
	crit_verdict_find(&summary);
	summary.causes = NULL;
}

static void test_sleeper(void)
{
	static const struct {
		const char *name;
		struct waiting waiting;
		bool is_named;
	} cases[] = {
		{ "it sleeps, the other waits", { { 0, 490 }, 480, 0 }, true },
		{ "the other sleeps half as long", { { 240, 490 }, 480, 0 }, true },
		{ "both sleep", { { 250, 490 }, 480, 0 }, false },
		{ "nobody waits for it", { { 0, 490 }, 200, 0 }, false },
		{ "it sleeps while the other works", { { 0, 490 }, 480, 300 }, false },
		{ "others are blocked besides", { { 0, 490 }, 250, 300 }, false },
		{ "it sleeps a little", { { 0, 40 }, 480, 0 }, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		judge(&cases[i].waiting);
		CHECK_CASE("%s", cases[i].name);
		CHECK_INT_EQ(summary.verdict, CRIT_VERDICT_BLOCKED);
		if (cases[i].is_named)
			says("Thread 501 (worker) of process 500, for which others wait, is "
			     "blocked "
			     "for 0.490 s (49.0% of the window) in which no thread computes");
		else
			says("hreads are blocked for 0.");
		crit_summary_fini(&summary);
	}
	CHECK_CASE("%s", "");
}

struct sleeps {
	uint64_t questions, sleeps, slept_ms;
	int16_t call;
	const char *setting; /* NULL: nothing is advised */
};

/* Rank 1 sleeps in a window of 1300 ms. */
static void advise(const struct sleeps *sleeps)
{
	struct crit_block_cell cell = { .call = { .number = sleeps->call },
					.thread = 1,
					.count = sleeps->sleeps,
					.blocked_ns = sleeps->slept_ms * MS };
	const char *found = NULL;

	results_sample_barriers(&sample);
	sample.threads[1].cells.ns[CRIT_STATE_BLOCKED][CRIT_CLASS_USER] = sleeps->slept_ms * MS;
	sample.threads[1].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_MPI_WAIT] -=
		sleeps->slept_ms * MS;
	sample.threads[1].idle_blocked_ns = sleeps->slept_ms * MS;
	sample.rank_calls[0] = (struct crit_rank_call_row){ .rank_row = 1,
							    .call = CRIT_MPI_Test,
							    .visits = sleeps->questions };
	sample.results.rank_call_count = 1;
	sample.results.blocks.cells = &cell;
	sample.results.blocks.cell_count = 1;
	summarise();
	for (size_t i = 0; i < summary.missing_count; i++)
		if (strncmp(summary.missing[i].fix, "CRIT_POLL_GAP", 13) == 0)
			found = summary.missing[i].fix;
	CHECK(!summary.is_incomplete);
	if (CHECK(!found == !sleeps->setting) && found)
		CHECK_STR_EQ(found, sleeps->setting);
	sample.results.blocks = (struct crit_block_results){ 0 };
	crit_summary_fini(&summary);
}

/* Where a rank sleeps as often as it asks MPI, a setting makes one wait of that. */
static void test_polling(void)
{
	static const struct sleeps cases[] = {
		{ 1000, 1000, 250, SYS_clock_nanosleep, "CRIT_POLL_GAP=1000000" },
		{ 1900, 1000, 250, SYS_nanosleep, "CRIT_POLL_GAP=1000000" },
		{ 501, 1000, 129, SYS_nanosleep,
		  NULL }, /* below 5 % of the window, for each rank */
		{ 501, 1000, 131, SYS_nanosleep, "CRIT_POLL_GAP=1000000" },
		{ 5000, 5000, 250, SYS_nanosleep, "CRIT_POLL_GAP=100000" },
		{ 20, 20, 600, SYS_nanosleep, "CRIT_POLL_GAP=100000000" },
		{ 2100, 1000, 250, SYS_nanosleep, NULL }, /* it asks without sleeping */
		{ 400, 1000, 250, SYS_nanosleep, NULL }, /* it sleeps without asking */
		{ 9, 9, 600, SYS_nanosleep, NULL },
		{ 1000, 1000, 250, SYS_fsync, NULL },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CHECK_CASE("%zu", i);
		advise(&cases[i]);
	}
	CHECK_CASE("%s", "");
}

int main(void)
{
	test_sleeper();
	test_polling();
	return check_done();
}
