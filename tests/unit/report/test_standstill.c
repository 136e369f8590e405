// SPDX-License-Identifier: BSD-3-Clause
// The verdict on ranks that all wait in MPI until they are killed, on threads
// likewise, and on ranks that take turns.
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>

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

enum place { /* code that a thread's last wait was called from */
	PLACE_NONE = 0,
	PLACE_MUTEX,
	PLACE_COND,
	PLACE_TIMED,
	PLACE_JOIN,
	PLACE_READ,
	PLACE_COUNT
};

/* A function of the C library, by the address behind its system call. */
static void find_library(void *user, uint32_t node, uint32_t pid, uint64_t address,
			 struct crit_source_location *ret_place)
{
	static const char *const names[PLACE_COUNT] = {
		NULL,
		"___pthread_mutex_lock",
		"pthread_cond_wait",
		"pthread_cond_timedwait",
		"pthread_join",
		"read",
	};

	(void)user, (void)node, (void)pid;
	*ret_place = (struct crit_source_location){ .module = "/lib/libc.so.6",
						    .function = names[address] };
}

static void find_program(void *user, const char *path, uint64_t offset,
			 struct crit_source_location *ret_place)
{
	(void)user;
	*ret_place = (struct crit_source_location){
		.module = path, .function = "work", .file = "bank.c", .line = (uint32_t)offset
	};
}

static struct crit_path_row path_rows[CRIT_PATH_FIRST + 1];
static char *path_files[] = { (char *)"/opt/bank" };
static struct crit_last_wait waits[3];

static void wait_in(size_t row, int16_t call, enum place place)
{
	waits[row] =
		(struct crit_last_wait){ .since_ns = sample.results.window_begin_ns + 500 * MS,
					 .until_ns = sample.results.window_begin_ns + 1990 * MS,
					 .call.number = call,
					 .operation = FUTEX_WAIT_PRIVATE,
					 .thread = (uint32_t)row,
					 .address = place,
					 .path = CRIT_PATH_FIRST,
					 .is_end_seen = true,
					 .exit_signal = SIGTERM };
}

/* Of 2 s three threads work for 0.5, then the main one joins the others, which want locks. */
static void fill_threads(void)
{
	results_sample_threads(&sample);
	sample.checks[0].active_ns = 510 * MS;
	for (size_t i = 0; i < 3; i++) {
		struct crit_thread_row *thread = &sample.threads[i];

		thread->cells = (struct crit_cells){ 0 };
		thread->cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_NONE] = 500 * MS;
		thread->cells.ns[CRIT_STATE_BLOCKED][CRIT_CLASS_NONE] = 1500 * MS;
		thread->birth_ns = sample.results.window_begin_ns;
		thread->death_ns = sample.results.window_begin_ns + 2000 * MS;
		wait_in(i, SYS_futex, i ? PLACE_MUTEX : PLACE_JOIN);
	}
	path_rows[CRIT_PATH_FIRST] =
		(struct crit_path_row){ .offset = 42, .parent = CRIT_PATH_COMPLETE };
	sample.results.samples.paths = path_rows;
	sample.results.samples.path_count = CRIT_PATH_FIRST + 1;
	sample.results.samples.path_files = path_files;
	sample.results.samples.path_file_count = 1;
	sample.results.blocks.last_waits = waits;
	sample.results.blocks.last_wait_count = 3;
}

static void summarise_threads(void)
{
	const struct crit_region_finder finder = { .find = find_library,
						   .find_in_file = find_program };
	const struct crit_summary_options options = { .critd_path = "/opt/bin/critd",
						      .finder = &finder };

	CHECK_INT_EQ(crit_summarise(&summary, &sample.results, &options), 0);
}

static void threads_say(const char *text)
{
	summarise_threads();
	says(text);
	check_sum();
	crit_summary_fini(&summary);
}

static void threads_say_none(const char *name)
{
	CHECK_CASE("%s", name);
	summarise_threads();
	is_silent_of("deadlock");
	is_silent_of("For the last");
	CHECK_NEAR(summary.lost.threads_still.s, 0, 0);
	check_sum();
	crit_summary_fini(&summary);
	CHECK_CASE("%s", "");
}

static void test_thread_locks(void)
{
	fill_threads();
	threads_say(
		"For the last 1.490 s (74.5% of the window), until SIGTERM ends them, no thread "
		"computes: threads 501 (worker) and 502 (worker) are in pthread_mutex_lock at "
		"work bank.c:42, thread 500 (main) in pthread_join at work bank.c:42; nobody is "
		"left who could let one of them go on: that is a deadlock.");
	fill_threads(); /* the recording ends before they do, and one came later */
	for (size_t i = 0; i < 3; i++) {
		waits[i].exit_signal = 0;
		waits[i].is_end_seen = false;
	}
	waits[2].since_ns += 100 * MS;
	threads_say("For the last 1.390 s (69.5% of the window), until the recording ends, no ");
}

/* What would end a wait, and so what may be said of all. */
static void test_thread_waits(void)
{
	fill_threads();
	wait_in(2, SYS_futex, PLACE_COND); /* who has the lock may be that one */
	threads_say(": that is a deadlock.");
	wait_in(1, SYS_futex, PLACE_COND);
	threads_say(": that is a deadlock, unless they wait for a signal or a timeout.");
	wait_in(1, SYS_futex, PLACE_MUTEX);
	waits[2].address = 0;
	threads_say(" in futex; nobody is left who could wake one of them: that is a deadlock, "
		    "unless they wait for a signal or a timeout.");
	wait_in(2, SYS_read, PLACE_READ);
	threads_say("; that is a deadlock, unless one that waits for input, time or a signal has "
		    "the lock.");
	wait_in(2, SYS_futex, PLACE_TIMED);
	threads_say("; that is a deadlock, unless one that waits for input, time or a signal has "
		    "the lock.");
	wait_in(1, SYS_read, PLACE_READ);
	threads_say("; what would let them go on is not recorded, as input, time or a signal");
	summarise_threads();
	is_silent_of("deadlock");
	crit_summary_fini(&summary);
}

/* One that runs now and then, and one that has much to do. */
static void test_thread_tickers(void)
{
	fill_threads();
	waits[2].since_ns = waits[2].until_ns - 50 * MS;
	sample.threads[2].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_NONE] = 20 * MS;
	threads_say("no thread computes but 1 that does now and then, for 0.020 s at most: thread "
		    "501 (worker) is in pthread_mutex_lock");
	sample.threads[2].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_NONE] = 1400 * MS;
	summarise_threads();
	CHECK(summary.lost.threads_still.s < 0.1);
	is_silent_of("deadlock");
	crit_summary_fini(&summary);
}

static void test_threads_that_go_on(void)
{
	fill_threads();
	for (size_t i = 0; i < 3; i++)
		waits[i].exit_signal = 0;
	threads_say_none("they end by themselves");
	fill_threads();
	sample.results.blocks.last_wait_count = 0;
	threads_say_none("nobody waits to the end");
	fill_threads();
	sample.checks[0].active_ns = 1500 * MS;
	threads_say_none("somebody is active meanwhile");
	fill_threads();
	for (size_t i = 0; i < 3; i++)
		waits[i].until_ns -= 200 * MS;
	threads_say_none("they go on after that");
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
	test_thread_locks();
	test_thread_waits();
	test_thread_tickers();
	test_threads_that_go_on();
	return check_done();
}
