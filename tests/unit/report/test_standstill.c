// SPDX-License-Identifier: BSD-3-Clause
// The verdict on ranks that all wait in MPI until they are killed, and on ranks that take turns.
#include "core/base/call.h"
#include "report/findings/verdict.h"
#include "tests/unit/report/test_verdict.h"

/*
 * Of 1300 ms two ranks work for 300.  Then rank 0 spins in MPI_Recv and rank 1 in MPI_Barrier, and
 * one of them has no CPU for most of that time, until both are killed.
 */
static void fill(void)
{
	const uint64_t begin_ns = sample.results.window_begin_ns;

	results_sample_barriers(&sample);
	sample.nodes[0].busy_ns = 600 * MS;
	sample.nodes[0].shortage.waiting_ns = 900 * MS;
	for (int i = 0; i < 2; i++) {
		struct crit_rank_row *rank = &sample.ranks[i];
		struct crit_cells *cells = &sample.threads[i].cells;

		*cells = (struct crit_cells){ 0 };
		cells->ns[CRIT_STATE_RUNNING][CRIT_CLASS_USER] = 300 * MS;
		cells->ns[CRIT_STATE_RUNNING][CRIT_CLASS_MPI_WAIT] = 1000 * MS;
		sample.checks[i].active_ns = 300 * MS;
		rank->cells = *cells;
		rank->active_ns = 300 * MS;
		rank->is_open = true;
		rank->world_size = 2;
		rank->exit_ns = rank->close_ns = begin_ns + 1300 * MS;
		rank->last_call.call = i ? CRIT_MPI_Barrier : CRIT_MPI_Recv;
		rank->last_call.since_ns = begin_ns + 300 * MS;
	}
}

static void says_deadlock(const char *calls)
{
	summarise();
	says(calls);
	says("; that is a deadlock, or what they wait for is not recorded");
	CHECK_INT_EQ(summary.verdict, CRIT_VERDICT_ALL_WAITING);
	CHECK(summary.lost.loss_s[CRIT_LOSS_CPUS] <= 1.0 - summary.lost.still.s + 1e-9);
	check_sum();
	crit_summary_fini(&summary);
}

static void says_no_deadlock(void)
{
	summarise();
	is_silent_of("deadlock");
	CHECK_NEAR(summary.lost.still.s, 0, 0);
	check_sum();
	crit_summary_fini(&summary);
}

static void test_deadlock(void)
{
	fill();
	says_deadlock("For the last 1.000 s (76.9% of the window) all ranks wait in MPI, until "
		      "they end without MPI_Finalize: rank 0 in MPI_Recv, rank 1 in MPI_Barrier");
	fill(); /* one entered its call later, and the other was killed earlier */
	sample.ranks[0].close_ns -= 100 * MS;
	sample.ranks[1].last_call.since_ns += 100 * MS;
	says_deadlock("For the last 0.800 s (61.5% of the window) all ranks wait in MPI");
}

static void test_same_call(void)
{
	fill();
	sample.ranks[1].last_call.call = CRIT_MPI_Recv;
	says_deadlock(": ranks 0 and 1 in MPI_Recv; ");
}

/* Rank 1 is done, and the recording ends while rank 0 still waits for it. */
static void test_finalized(void)
{
	fill();
	sample.ranks[0].exit_ns = 0;
	sample.ranks[1].is_open = false;
	sample.ranks[1].close_ns = sample.ranks[1].last_call.since_ns;
	says_deadlock("until the recording ends: rank 0 in MPI_Recv, rank 1 in MPI_Finalize");
}

/* Nobody knows what a rank does that is not recorded, or that ends outside MPI. */
static void test_unknown(void)
{
	fill();
	sample.ranks[0].world_size = sample.ranks[1].world_size = 3;
	says_no_deadlock();
	fill();
	sample.ranks[1].last_call = (struct crit_last_call){ 0 };
	says_no_deadlock();
	fill(); /* all is well */
	sample.ranks[0].is_open = sample.ranks[1].is_open = false;
	says_no_deadlock();
}

/* Main threads serve in MPI, and threads of their ranks compute meanwhile. */
static void test_servers(void)
{
	fill();
	for (int i = 0; i < 2; i++) {
		sample.checks[i].active_ns = 1200 * MS;
		sample.ranks[i].app_threads = 2;
	}
	says_no_deadlock();
	for (int i = 0; i < 2; i++) { /* or do so between two polls */
		sample.ranks[i].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_USER] = 600 * MS;
		sample.ranks[i].app_threads = 1;
	}
	says_no_deadlock();
}

/* One polls for ever, and often wants a CPU between two polls: it is active, and does nothing. */
static void test_poller(void)
{
	fill();
	sample.ranks[1].last_call.call = CRIT_MPI_Test;
	for (int i = 0; i < 2; i++) {
		sample.checks[i].active_ns = 600 * MS;
		sample.ranks[i].app_threads = 1;
	}
	summarise();
	CHECK_NEAR(summary.lost.still.s, 1.0, 1e-9);
	says("rank 0 in MPI_Recv, rank 1 in MPI_Test");
	crit_summary_fini(&summary);
}

/* Of 650 ms in which each rank has work to do, programs outside the run have its CPU for 150. */
static void fill_turns(uint64_t any_ms)
{
	fill();
	sample.nodes[0].busy_ns = 1000 * MS;
	sample.nodes[0].shortage.waiting_ns = 0;
	for (int i = 0; i < 2; i++) {
		struct crit_rank_row *rank = &sample.ranks[i];
		struct crit_cells *cells = &sample.threads[i].cells;

		*cells = (struct crit_cells){ 0 };
		cells->ns[CRIT_STATE_RUNNING][CRIT_CLASS_USER] = 500 * MS;
		cells->ns[CRIT_STATE_RUNNABLE][CRIT_CLASS_USER] = 150 * MS;
		cells->ns[CRIT_STATE_RUNNING][CRIT_CLASS_MPI_WAIT] = 650 * MS;
		sample.checks[i].active_ns = any_ms * MS;
		rank->cells = *cells;
		rank->active_ns = 650 * MS;
		rank->is_open = false;
		rank->exit_ns = 0;
	}
	summarise();
	CHECK(summary.lost.has_foreign_load);
	CHECK_INT_EQ(summary.lost.named_count, 0);
}

/* Who works one after another does so whatever other programs take; late ones are late by them. */
static void test_turns(void)
{
	fill_turns(1290);
	CHECK_INT_EQ(summary.verdict, CRIT_VERDICT_IMBALANCE);
	says("Ranks wait for each other for 0.640 s (49.2% of the window)");
	says("; they work one after another; others had the CPUs for 0.300 s in which ranks");
	is_silent_of("sooner");
	CHECK(!summary.has_promise);
	crit_summary_fini(&summary);
	fill_turns(1200);
	CHECK_INT_EQ(summary.verdict, CRIT_VERDICT_CPUS);
	says("Others had the CPUs for 0.300 s");
	is_silent_of("wait for each other");
	is_silent_of("one after another");
	crit_summary_fini(&summary);
}

int main(void)
{
	test_deadlock();
	test_same_call();
	test_finalized();
	test_unknown();
	test_servers();
	test_poller();
	test_turns();
	return check_done();
}
