// SPDX-License-Identifier: BSD-3-Clause
// The first sentence of a report: what it says of which losses, whom it names, what it promises.
#include "core/abi/abi_shim.h"
#include "core/base/call.h"
#include "report/causes/cause_rows.h"
#include "report/findings/verdict.h"
#include "tests/unit/report/test_verdict.h"

/*
 * Two ranks that run for so long outside MPI, and want a CPU in vain for the rest of their active
 * time; they spin in MPI_Barrier while they are not active.
 */
static void fill_ranks(const uint64_t run_ms[2], const uint64_t active_ms[2], uint64_t any_ms)
{
	results_sample_barriers(&sample);
	sample.nodes[0].busy_ns = 0;
	for (int i = 0; i < 2; i++) {
		struct crit_cells *cells = &sample.threads[i].cells;

		*cells = (struct crit_cells){ 0 };
		cells->ns[CRIT_STATE_RUNNING][CRIT_CLASS_USER] = run_ms[i] * MS;
		cells->ns[CRIT_STATE_RUNNABLE][CRIT_CLASS_USER] = (active_ms[i] - run_ms[i]) * MS;
		cells->ns[CRIT_STATE_RUNNING][CRIT_CLASS_MPI_WAIT] = (1300 - active_ms[i]) * MS;
		sample.ranks[i].cells = *cells;
		sample.ranks[i].active_ns = active_ms[i] * MS;
		sample.nodes[0].busy_ns += run_ms[i] * MS;
		sample.checks[i].active_ns = any_ms * MS;
	}
}

/* Two ranks share a CPU: while one runs the other one cannot, and what waits then waits for it. */
static void test_shared_cpu(void)
{
	fill_ranks((uint64_t[]){ 600, 600 }, (uint64_t[]){ 1200, 1000 }, 1300);
	sample.nodes[0].cpu_count = 4;
	sample.nodes[0].usable_cpus = 1;
	sample.nodes[0].shortage.full_ns = 1250 * MS;
	sample.nodes[0].shortage.full_unit_ns[CRIT_UNIT_RANKS] = 2150 * MS;
	summarise();
	CHECK_INT_EQ(summary.verdict, CRIT_VERDICT_CPUS);
	/* runnable 1.0 s, waiting meanwhile 0.35 s of 0.4 s: per rank */
	CHECK_NEAR(summary.lost.loss_s[CRIT_LOSS_CPUS], (1.0 + 0.35) / 2, 1e-9);
	CHECK_NEAR(summary.lost.loss_s[CRIT_LOSS_IMBALANCE], 0.05 / 2, 1e-9);
	CHECK_NEAR(summary.lost.gain_s, 0.1, 1e-9); /* the CPU is busy for 1.2 s of 1.3 s */
	says("2 ranks share 1 CPU: that costs 0.675 s");
	is_silent_of("sooner");
	is_silent_of("late");
	CHECK(!summary.has_promise);
	check_sum();
	crit_summary_fini(&summary);
}

/* The same with one rank that has more to do: its name, and no more than the CPU allows. */
static void test_shared_cpu_uneven(void)
{
	fill_ranks((uint64_t[]){ 800, 400 }, (uint64_t[]){ 1200, 700 }, 1300);
	sample.nodes[0].cpu_count = 1;
	sample.nodes[0].shortage.full_ns = 1200 * MS;
	sample.nodes[0].shortage.full_unit_ns[CRIT_UNIT_RANKS] = 1900 * MS;
	summarise();
	CHECK_INT_EQ(summary.verdict, CRIT_VERDICT_CPUS);
	CHECK_INT_EQ(summary.lost.named_count, 1);
	says("2 ranks share 1 online CPU");
	says("; rank 0 on node1 has 1.3 times the mean work");
	says("at most 0.100 s (7.7%) sooner");
	CHECK(summary.has_promise);
	check_sum();
	crit_summary_fini(&summary);
}

/* Shims do not see who runs: of ranks that share CPUs they cannot say who works more. */
static void test_shims_only(void)
{
	fill_ranks((uint64_t[]){ 1200, 700 }, (uint64_t[]){ 1200, 700 }, 1300);
	sample.nodes[0].kernel_half = CRIT_HALF_NONE;
	sample.nodes[0].cpu_count = 1;
	summarise();
	CHECK_INT_EQ(summary.verdict, CRIT_VERDICT_CPUS);
	says("2 ranks share 1 online CPU; what that costs is not known without the kernel half");
	is_silent_of("ank 0");
	crit_summary_fini(&summary);
	sample.nodes[0].cpu_count = 2;
	summarise();
	says("Rank 0 on node1 has 1.3 times the mean work");
	crit_summary_fini(&summary);
}

/* CPUs for all, and yet not to be had: others used them.  No seconds are promised then. */
static void test_foreign_load(void)
{
	fill_ranks((uint64_t[]){ 800, 500 }, (uint64_t[]){ 1200, 600 }, 1300);
	sample.nodes[0].shortage.full_ns = 500 * MS;
	sample.nodes[0].shortage.full_unit_ns[CRIT_UNIT_RANKS] = 700 * MS;
	summarise();
	CHECK(summary.lost.has_foreign_load);
	says("thers had the CPUs for 0.500 s in which ranks wanted them (sum over ranks)");
	says("ank 0 on node1 has 1.2 times the mean work");
	is_silent_of("sooner");
	CHECK(!summary.has_promise);
	check_sum();
	crit_summary_fini(&summary);
}

/* Who had the CPUs decides, where it is known: the run's own threads, or others. */
static void fill_takers(uint64_t own_ms, uint64_t foreign_ms, uint64_t hidden_ms)
{
	fill_ranks((uint64_t[]){ 800, 500 }, (uint64_t[]){ 1200, 600 }, 1300);
	sample.nodes[0].shortage.full_ns = 500 * MS;
	sample.nodes[0].shortage.full_unit_ns[CRIT_UNIT_RANKS] = 700 * MS;
	sample.preemptors[0] = (struct crit_preemptor_row){ .kind = CRIT_PREEMPTOR_MEMBER,
							    .by_thread = 1,
							    .lost_ns = own_ms * MS };
	sample.preemptors[1] = (struct crit_preemptor_row){ .kind = CRIT_PREEMPTOR_STRANGER,
							    .by_thread = -1,
							    .name = "cc1",
							    .lost_ns = foreign_ms * MS };
	sample.preemptors[2] = (struct crit_preemptor_row){ .kind = CRIT_PREEMPTOR_HIDDEN,
							    .by_thread = -1,
							    .lost_ns = hidden_ms * MS };
	sample.preemptors[3] = (struct crit_preemptor_row){ .kind = CRIT_PREEMPTOR_IDLE,
							    .by_thread = -1,
							    .lost_ns = 60 * MS };
	sample.results.preemptor_count = 4;
	summarise();
}

static void test_takers(void)
{
	fill_takers(301, 20, 20);
	CHECK(summary.lost.lacks_cpus && !summary.lost.has_foreign_load);
	says("aiting for CPUs costs ");
	is_silent_of("thers had the CPUs");
	CHECK(summary.has_promise);
	crit_summary_fini(&summary);
	fill_takers(150, 110, 40);
	CHECK(summary.lost.lacks_cpus && summary.lost.has_foreign_load);
	says("thers had the CPUs for 0.150 s in which ranks wanted them, the run's own threads "
	     "for 0.150 s (sum over ranks)");
	CHECK(!summary.has_promise);
	crit_summary_fini(&summary);
	sample.nodes[0].cpu_count = 1; /* which two share, but that is not all */
	summarise();
	CHECK(!summary.lost.lacks_cpus && summary.lost.has_foreign_load);
	says("thers had the CPUs for 0.150 s");
	crit_summary_fini(&summary);
	fill_takers(0, 20, 20); /* of 100: a limit, or a CPU that sleeps */
	CHECK(!summary.lost.lacks_cpus && !summary.lost.has_foreign_load);
	is_silent_of("thers had the CPUs");
	crit_summary_fini(&summary);
	sample.preemptors[3].kind = CRIT_PREEMPTOR_UNKNOWN;
	summarise();
	says("thers had the CPUs for 0.040 s at least of 0.100 s in which ranks wanted them");
	CHECK(!summary.has_promise);
	crit_summary_fini(&summary);
	fill_takers(0, 600, 0); /* more than the ranks wanted by their own cells */
	says("thers had the CPUs for 0.500 s");
	crit_summary_fini(&summary);
}

/* Both have the same to do, but by turns. */
static void test_alternating(void)
{
	fill_ranks((uint64_t[]){ 860, 860 }, (uint64_t[]){ 860, 860 }, 1300);
	summarise();
	CHECK_INT_EQ(summary.verdict, CRIT_VERDICT_IMBALANCE);
	CHECK_INT_EQ(summary.lost.named_count, 0);
	says("Ranks wait for each other for 0.440 s (33.8% of the window), mostly in MPI_Barrier");
	says("the late rank changes from step to step");
	says("at most 0.440 s (33.8%) sooner");
	check_sum();
	crit_summary_fini(&summary);
}

/* The other one has next to nothing to do, and is no master: half of the ranks are like it. */
static void test_one_works(void)
{
	fill_ranks((uint64_t[]){ 1290, 4 }, (uint64_t[]){ 1290, 4 }, 1294);
	summarise();
	CHECK_INT_EQ(summary.verdict, CRIT_VERDICT_IMBALANCE);
	CHECK_INT_EQ(summary.lost.named_count, 1);
	says("Rank 0 on node1 has 2.0 times the mean work");
	says("at most 0.647 s (49.8%) sooner");
	check_sum();
	crit_summary_fini(&summary);
}

/* Two launches of one rank each, one after the other: neither waits for the other. */
static void test_launches(void)
{
	fill_ranks((uint64_t[]){ 640, 640 }, (uint64_t[]){ 640, 640 }, 1280);
	sample.ranks[0].close_ns = sample.ranks[0].open_ns + 645 * MS;
	sample.ranks[1].open_ns = sample.ranks[0].close_ns;
	summarise();
	CHECK_NEAR(summary.lost.units, 1, 0);
	CHECK_INT_EQ(summary.verdict, CRIT_VERDICT_EVEN);
	CHECK_INT_EQ(summary.lost.named_count, 0);
	is_silent_of("late");
	check_sum();
	crit_summary_fini(&summary);
	/* and half a second between them */
	sample.ranks[0].active_ns = 140 * MS;
	for (int i = 0; i < 2; i++) {
		sample.checks[i].active_ns = 780 * MS;
		sample.checks[i].nobody = (crit_fix)(500 * MS) << 64;
	}
	summarise();
	CHECK_INT_EQ(summary.verdict, CRIT_VERDICT_ALL_WAITING);
	says("For 0.500 s (38.5% of the window) there is no rank at all, as between launches");
	is_silent_of("ommunication");
	crit_summary_fini(&summary);
}

/* A node whose CPUs are full of work beside one that waits: work can move between them. */
static void test_two_nodes(void)
{
	fill_ranks((uint64_t[]){ 1300, 650 }, (uint64_t[]){ 1300, 650 }, 1300);
	sample.results.node_count = 2;
	sample.nodes[1] = sample.nodes[0];
	for (int i = 0; i < 2; i++) {
		sample.nodes[i].usable_cpus = 1;
		sample.nodes[i].busy_ns = (i ? 650 : 1300) * MS;
		sample.ranks[i].node = (uint32_t)i;
		sample.threads[i].node = (uint32_t)i;
	}
	summarise();
	CHECK_INT_EQ(summary.verdict, CRIT_VERDICT_IMBALANCE);
	CHECK_NEAR(summary.lost.gain_s, 0.325, 1e-9);
	CHECK_NEAR(summary.lost.loss_s[CRIT_LOSS_CPUS], 0, 1e-9);
	says("Rank 0 on node1 has 1.3 times the mean work");
	says("at most 0.325 s (25.0%) sooner");
	check_sum();
	crit_summary_fini(&summary);
}

static void test_uneven(void)
{
	fill_ranks((uint64_t[]){ 1290, 1100 }, (uint64_t[]){ 1290, 1100 }, 1300);
	summarise();
	CHECK_INT_EQ(summary.lost.named_count, 0);
	says("slightly uneven (the mean is 92.6% of the most)");
	is_silent_of("ank 0");
	check_sum();
	crit_summary_fini(&summary);
}

/* A rank is active while one of its threads is; what the others idle is said apart. */
static void test_serial_omp(void)
{
	results_sample_hybrid(&sample);
	summarise();
	/* 0.4 and 0.8 s of the two workers outside regions, 0.3 s of imbalance in one */
	says("; inside ranks OpenMP threads idle for 1.500 s (sum over threads), mostly in serial");
	CHECK_NEAR(summary.efficiency.cpus, 4, 1e-9);
	crit_summary_fini(&summary);
	sample.calls[2].call = CRIT_CONSTRUCT_ORDERED_WAIT;
	sample.calls[2].wait_ns = 600 * MS;
	summarise();
	says(", mostly for locks, critical or ordered sections");
	crit_summary_fini(&summary);
	results_sample_barriers(&sample);
	summarise();
	is_silent_of("OpenMP");
	crit_summary_fini(&summary);
}

/* Unequal parts of the CPUs, but nobody ever waits: threads that spin in loops of their own. */
static void test_spinning(void)
{
	static const int run_ms[] = { 1500, 900, 600 };

	results_sample_threads(&sample);
	for (int i = 0; i < 3; i++) {
		struct crit_cells *cells = &sample.threads[i].cells;

		*cells = (struct crit_cells){ 0 };
		cells->ns[CRIT_STATE_RUNNING][CRIT_CLASS_NONE] = (uint64_t)run_ms[i] * MS;
		cells->ns[CRIT_STATE_RUNNABLE][CRIT_CLASS_NONE] = (uint64_t)(1950 - run_ms[i]) * MS;
		cells->ns[CRIT_STATE_BLOCKED][CRIT_CLASS_NONE] = 50 * MS;
		sample.threads[i].idle_blocked_ns = 50 * MS;
	}
	summarise();
	CHECK_INT_EQ(summary.verdict, CRIT_VERDICT_CPUS);
	CHECK_NEAR(summary.lost.work_balance_ratio, 1.0 / 1.5, 1e-9);
	CHECK_INT_EQ(summary.lost.named_count, 0);
	is_silent_of("times the mean work");
	is_silent_of("uneven");
	check_sum();
	crit_summary_fini(&summary);
}

static void test_blocked(void)
{
	fill_ranks((uint64_t[]){ 600, 600 }, (uint64_t[]){ 600, 600 }, 1200);
	for (int i = 0; i < 2; i++) {
		struct crit_cells *cells = &sample.threads[i].cells;

		cells->ns[CRIT_STATE_RUNNING][CRIT_CLASS_MPI_WAIT] = 0;
		cells->ns[CRIT_STATE_BLOCKED][CRIT_CLASS_USER] = 700 * MS;
		sample.threads[i].idle_blocked_ns = 600 * MS;
		sample.ranks[i].cells = *cells;
	}
	summarise();
	CHECK_INT_EQ(summary.verdict, CRIT_VERDICT_BLOCKED);
	says("Ranks are blocked outside MPI for 0.700 s");
	check_sum();
	crit_summary_fini(&summary);
}

static void test_library(void)
{
	fill_ranks((uint64_t[]){ 600, 600 }, (uint64_t[]){ 1200, 1200 }, 1250);
	for (int i = 0; i < 2; i++) {
		struct crit_cells *cells = &sample.threads[i].cells;

		cells->ns[CRIT_STATE_RUNNABLE][CRIT_CLASS_USER] = 0;
		cells->ns[CRIT_STATE_RUNNING][CRIT_CLASS_MPI] = 600 * MS;
		sample.ranks[i].cells = *cells;
	}
	summarise();
	CHECK_INT_EQ(summary.verdict, CRIT_VERDICT_LIBRARY);
	says("MPI itself works for 0.600 s");
	check_sum();
	crit_summary_fini(&summary);
}

/* Where too little is known nobody is accused. */
static void test_no_judgement(void)
{
	results_sample_barriers(&sample);
	sample.results.window_ns = 190 * MS;
	summarise();
	CHECK_INT_EQ(summary.verdict, CRIT_VERDICT_TOO_SHORT);
	is_silent_of("ank 0");
	crit_summary_fini(&summary);
	results_sample_barriers(&sample);
	sample.threads[1].cells.ns[CRIT_STATE_UNKNOWN][CRIT_CLASS_USER] = 900 * MS;
	summarise();
	CHECK_INT_EQ(summary.verdict, CRIT_VERDICT_INCOMPLETE);
	says("26% of what happened was lost");
	is_silent_of("ank 0");
	crit_summary_fini(&summary);
	results_sample_barriers(&sample);
	sample.results.losses.shim_spans = 400;
	summarise();
	CHECK_INT_EQ(summary.verdict, CRIT_VERDICT_INCOMPLETE);
	crit_summary_fini(&summary);
}

/*
 * Threads that share work and end when they have done their part: who is gone waits until the last
 * one is.  Pthread barriers are locks like any other: so much of the blocking as the most active
 * one exceeds the mean is imbalance.
 */
static void test_threads(void)
{
	results_sample_threads(&sample);
	for (int i = 0; i < 3; i++) {
		uint64_t run_ms = i == 1 ? 2000 : 1000;

		sample.threads[i].cells = (struct crit_cells){ 0 };
		sample.threads[i].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_NONE] = run_ms * MS;
		sample.threads[i].idle_blocked_ns = 0;
		sample.threads[i].death_ns = sample.threads[i].birth_ns + run_ms * MS;
	}
	sample.nodes[0].cpu_count = 4;
	sample.nodes[0].busy_ns = 4000 * MS;
	summarise();
	CHECK_INT_EQ(summary.verdict, CRIT_VERDICT_IMBALANCE);
	CHECK_NEAR(summary.lost.units, 3, 0);
	CHECK_NEAR(summary.lost.loss_s[CRIT_LOSS_IMBALANCE], 2.0 / 3, 1e-9);
	says("Thread 501 (worker) of process 500 has 1.5 times the mean work");
	is_silent_of("wait");
	check_sum();
	crit_summary_fini(&summary);
	for (int i = 0; i < 3; i += 2) {
		sample.threads[i].cells.ns[CRIT_STATE_BLOCKED][CRIT_CLASS_NONE] = 1000 * MS;
		sample.threads[i].idle_blocked_ns = 1000 * MS;
		sample.threads[i].death_ns = sample.threads[1].death_ns;
	}
	summarise();
	CHECK_INT_EQ(summary.verdict, CRIT_VERDICT_IMBALANCE);
	CHECK_NEAR(summary.lost.loss_s[CRIT_LOSS_IMBALANCE], 2.0 / 3, 1e-9);
	CHECK_NEAR(summary.lost.loss_s[CRIT_LOSS_BLOCKED], 0, 1e-9);
	check_sum();
	crit_summary_fini(&summary);
}

/* Who sleeps need not wait for a thread: who was woken by it does, or through others. */
static void test_waited_thread(void)
{
	struct crit_cause_row rows[] = {
		{ .who = { .thread = 1 }, .cost = 1500 * MS, .share = 0.3 },
		{ .who = { .thread = CRIT_NONE }, .is_outside = true, .cost = 2000 * MS },
		{ .who = { .thread = 1 }, .is_cpu = true, .cost = 500 * MS, .share = 0.1 },
		{ .who = { .thread = 2 }, .cost = 1000 * MS, .share = 0.2 },
	};
	const struct crit_cause_table causes = { .rows = rows, .row_count = 4 };

	results_sample_threads(&sample);
	for (int i = 0; i < 3; i++) {
		sample.threads[i].cells = (struct crit_cells){ 0 };
		sample.threads[i].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_NONE] =
			(i == 1 ? 2000 : 1000) * MS;
		sample.threads[i].run.blame = (crit_fix)(7000 * MS) << 64;
	}
	summarise();
	says("Thread 501 (worker) of process 500 has 1.5 times the mean work");
	is_silent_of(" for it");
	summary.causes = &causes;
	crit_verdict_find(&summary);
	says("the others wait 2.000 s for it (sum over threads)");
	crit_summary_fini(&summary);
}

/* A thread that only starts the others is no unit, up to a twentieth of what they do. */
static void test_starter(void)
{
	const uint64_t starts_ms[] = { 30, 60 };

	for (int k = 0; k < 2; k++) {
		results_sample_threads(&sample);
		for (int i = 0; i < 3; i++) {
			uint64_t run_ms = i == 0 ? starts_ms[k] : 1000;

			sample.threads[i].cells = (struct crit_cells){ 0 };
			sample.threads[i].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_NONE] =
				run_ms * MS;
			sample.threads[i].cells.ns[CRIT_STATE_BLOCKED][CRIT_CLASS_NONE] =
				(2000 - run_ms) * MS;
			sample.threads[i].idle_blocked_ns = 0;
		}
		summarise();
		CHECK_UINT_EQ(summary.lost.unit_count, 2 + (size_t)k);
		CHECK(k || !summary.lost.named_count);
		crit_summary_fini(&summary);
	}
}

/*
 * A main thread that works for 60 ms of 2 s starts one thread after the other.  They live for 20 ms
 * each and work for a tenth of that, less than a twentieth of what main does; together they are
 * what the run does.
 */
static void test_short_lives(void)
{
	results_sample_threads(&sample);
	sample.results.thread_count = 98;
	for (uint32_t i = 0; i < 98; i++) {
		struct crit_thread_row *thread = &sample.threads[i];
		const uint64_t life_ms = i ? 20 : 2000, run_ms = i == 0 ? 60 : i == 1 ? 20 : 2;

		*thread = sample.threads[0];
		thread->tid = 500 + i;
		thread->birth_ns = i ? (uint64_t)i * 20 * MS : 0;
		thread->death_ns = thread->birth_ns + life_ms * MS;
		thread->cells = (struct crit_cells){ 0 };
		thread->cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_NONE] = run_ms * MS;
		thread->cells.ns[CRIT_STATE_BLOCKED][CRIT_CLASS_NONE] = (life_ms - run_ms) * MS;
		thread->idle_blocked_ns = 0;
	}
	summarise();
	CHECK_UINT_EQ(summary.lost.unit_count, 97); /* not the main thread */
	CHECK_NEAR(summary.lost.units, 1, 0);
	CHECK_NEAR(summary.lost.useful_s, 0.020 + 96 * 0.002, 1e-9);
	check_sum();
	crit_summary_fini(&summary);
}

static void test_communication(void)
{
	results_sample_barriers(&sample);
	for (int i = 0; i < 2; i++) {
		sample.checks[i].active_ns = 300000000;
		sample.checks[i].cmetric_sum = (crit_fix)300000000 << 64;
		sample.checks[i].all_waiting_sum = (crit_fix)1000000000 << 64;
	}
	for (int i = 0; i < 2; i++) {
		sample.ranks[i].active_ns = 150000000;
		sample.ranks[i].cells = (struct crit_cells){ 0 };
		sample.ranks[i].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_USER] = 150000000;
		sample.ranks[i].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_MPI_WAIT] = 1150000000;
		sample.threads[i].cells = sample.ranks[i].cells;
	}
	sample.calls[0].run.all_waiting[CRIT_UNIT_THREADS] = (crit_fix)900000000 << 64;
	summarise();
	CHECK_INT_EQ(summary.verdict, CRIT_VERDICT_ALL_WAITING);
	CHECK_NEAR(summary.lost.loss_s[CRIT_LOSS_ALL_WAITING], 1.0, 1e-12);
	CHECK(strstr(summary.sentence, "Communication") == summary.sentence);
	CHECK(strstr(summary.sentence, "MPI_Barrier") != NULL);
	CHECK(strstr(summary.sentence, "ank 0") == NULL);
	crit_summary_fini(&summary);
	/* in no call, and partly blocked: as long as T(n=0) says */
	for (int i = 0; i < 2; i++) {
		sample.ranks[i].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_MPI_WAIT] = 850000000;
		sample.ranks[i].cells.ns[CRIT_STATE_BLOCKED][CRIT_CLASS_NONE] = 300000000;
		sample.threads[i].cells = sample.ranks[i].cells;
	}
	sample.results.call_count = 0;
	summarise();
	CHECK_INT_EQ(summary.verdict, CRIT_VERDICT_ALL_WAITING);
	CHECK(summary.lost.loss_s[CRIT_LOSS_ALL_WAITING] < 0.9);
	says("For 1.000 s (76.9% of the window) no rank is active");
	crit_summary_fini(&summary);
}

static void test_even(void)
{
	results_sample_barriers(&sample);
	for (int i = 0; i < 2; i++) {
		sample.ranks[i].active_ns = 1290000000;
		sample.ranks[i].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_USER] = 1290000000;
		sample.checks[i].active_ns = 1300000000;
	}
	/* CMetric is no evidence: equal ranks that queue for CPUs have unequal parts of it */
	sample.ranks[0].run.cmetric[CRIT_UNIT_RANKS] = (crit_fix)900000000 << 64;
	summarise();
	CHECK_INT_EQ(summary.verdict, CRIT_VERDICT_EVEN);
	CHECK(strstr(summary.sentence, "No rank stands out") != NULL);
	crit_summary_fini(&summary);
}

static void fill_workers(int count, const uint64_t *work_ms)
{
	results_sample_threads(&sample);
	sample.results.thread_count = (size_t)count;
	sample.nodes[0].cpu_count = 16;
	for (int i = 0; i < count; i++) {
		sample.threads[i] = sample.threads[0];
		sample.threads[i].tid = 500 + (uint32_t)i;
		sample.threads[i].cells = (struct crit_cells){ 0 };
		sample.threads[i].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_USER] =
			work_ms[i] * 1000000;
		sample.threads[i].cells.ns[CRIT_STATE_BLOCKED][CRIT_CLASS_USER] =
			(2000 - work_ms[i]) * 1000000;
		sample.threads[i].idle_blocked_ns = (2000 - work_ms[i]) * 1000000;
	}
}

/* Four equal workers and four idle threads: nobody is to blame. */
static void test_idle(void)
{
	static const uint64_t work_ms[] = { 2000, 2000, 2000, 2000, 10, 10, 0, 10 };

	fill_workers(8, work_ms);
	summarise();
	CHECK_INT_EQ(summary.verdict, CRIT_VERDICT_EVEN);
	CHECK_INT_EQ(summary.lost.unit_count, 4);
	CHECK_INT_EQ(summary.lost.named_count, 0);
	CHECK(strstr(summary.sentence, "No thread stands out") == summary.sentence);
	crit_summary_fini(&summary);
}

/* Several with much more work than the mean: three names, and how many more. */
static void test_group(void)
{
	static const uint64_t work_ms[] = { 500, 2000, 500, 2000, 500, 2000, 500, 1990, 1200 };

	fill_workers(9, work_ms);
	summarise();
	CHECK_INT_EQ(summary.lost.named_count, 4);
	CHECK(strstr(
		summary.sentence,
		"hreads 501 (main), 503 (main), 505 (main) and 1 more have up to 1.6 times the "
		"mean work"));
	crit_summary_fini(&summary);
}

int main(void)
{
	test_shared_cpu();
	test_shared_cpu_uneven();
	test_shims_only();
	test_foreign_load();
	test_takers();
	test_alternating();
	test_one_works();
	test_launches();
	test_two_nodes();
	test_uneven();
	test_serial_omp();
	test_spinning();
	test_blocked();
	test_library();
	test_no_judgement();
	test_threads();
	test_waited_thread();
	test_starter();
	test_short_lives();
	test_communication();
	test_even();
	test_idle();
	test_group();
	return check_done();
}
