// SPDX-License-Identifier: BSD-3-Clause
// The verdict on ranks that wait for one that does nothing: it is blocked outside MPI, or gone.
#include "core/base/call.h"
#include "report/causes/cause_rows.h"
#include "report/findings/verdict.h"
#include "tests/unit/report/test_verdict.h"

/*
 * Of 1300 ms rank 0 works for 300, while rank 1 works for 200 of these.  Then rank 0 spins, and now
 * and then has no CPU, while rank 1 is blocked outside MPI, the rest of the 300 ms included.
 */
static void fill(void)
{
	static const uint64_t run_ms[] = { 300, 200 };

	results_sample_barriers(&sample);
	sample.nodes[0].busy_ns = 500 * MS;
	sample.nodes[0].shortage.waiting_ns = 900 * MS;
	for (int i = 0; i < 2; i++) {
		struct crit_cells *cells = &sample.threads[i].cells;

		*cells = (struct crit_cells){ 0 };
		cells->ns[CRIT_STATE_RUNNING][CRIT_CLASS_USER] = run_ms[i] * MS;
		sample.ranks[i].active_ns = run_ms[i] * MS;
		sample.checks[i].active_ns = 300 * MS;
	}
	sample.threads[0].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_MPI_WAIT] = 1000 * MS;
	sample.threads[1].cells.ns[CRIT_STATE_BLOCKED][CRIT_CLASS_USER] = 1100 * MS;
	sample.threads[1].idle_blocked_ns = 100 * MS;
}

static void summarise_ranks(void)
{
	for (int i = 0; i < 2; i++)
		sample.ranks[i].cells = sample.threads[i].cells;
	summarise();
}

/* No CPU ends what rank 0 spins for; and nobody waited for rank 0, which has more to do. */
static void test_blocked_rank(void)
{
	fill();
	summarise_ranks();
	CHECK_INT_EQ(summary.verdict, CRIT_VERDICT_BLOCKED);
	says("Rank 1 on node1 is blocked outside MPI for 1.000 s (76.9% of the window)");
	is_silent_of("times the mean work");
	CHECK_NEAR(summary.lost.loss_s[CRIT_LOSS_CPUS], 0, 1e-9);
	CHECK_NEAR(summary.lost.loss_s[CRIT_LOSS_ALL_WAITING], 1.0 / 2, 1e-9);
	CHECK_NEAR(summary.lost.gain_s, 0, 1e-9);
	check_sum();
	crit_summary_fini(&summary);
}

/* What rank 1 is blocked and rank 0 waits for it meanwhile is one finding, and the larger one. */
static void test_blocked_first(void)
{
	static const uint64_t run_ms[] = { 900, 400 };

	fill();
	sample.nodes[0].busy_ns = 1300 * MS;
	sample.nodes[0].shortage.waiting_ns = 0;
	for (int i = 0; i < 2; i++) {
		sample.threads[i].cells = (struct crit_cells){ 0 };
		sample.threads[i].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_USER] = run_ms[i] * MS;
		sample.ranks[i].active_ns = run_ms[i] * MS;
		sample.checks[i].active_ns = 900 * MS;
	}
	sample.threads[0].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_MPI_WAIT] = 400 * MS;
	sample.threads[1].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_MPI_WAIT] = 500 * MS;
	sample.threads[1].cells.ns[CRIT_STATE_BLOCKED][CRIT_CLASS_USER] = 400 * MS;
	sample.threads[1].idle_blocked_ns = 0;
	summarise_ranks();
	CHECK_NEAR(summary.lost.loss_s[CRIT_LOSS_IMBALANCE], 0.25, 1e-9);
	CHECK_NEAR(summary.lost.loss_s[CRIT_LOSS_ALL_WAITING], 0.2, 1e-9);
	CHECK_NEAR(summary.lost.loss_s[CRIT_LOSS_BLOCKED], 0.2, 1e-9);
	says("Rank 1 on node1 is blocked outside MPI for 0.400 s");
	says("; rank 0 on node1 has 1.4 times the mean work");
	crit_summary_fini(&summary);
}

/* A master that next to nothing is asked of, but that sleeps while nobody works: it is a unit. */
static void test_idle_sleeper(void)
{
	fill();
	sample.ranks[1].active_ns = MS;
	sample.threads[1].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_USER] = MS;
	sample.threads[1].cells.ns[CRIT_STATE_BLOCKED][CRIT_CLASS_USER] = 1299 * MS;
	sample.threads[1].idle_blocked_ns = 299 * MS;
	summarise_ranks();
	CHECK_INT_EQ(summary.lost.unit_count, 2);
	says("Rank 1 on node1 is blocked outside MPI for 1.000 s");
	check_sum();
	crit_summary_fini(&summary);
}

/* Both are blocked as long: nobody is the one. */
static void test_both_blocked(void)
{
	fill();
	sample.threads[0].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_MPI_WAIT] = 0;
	sample.threads[0].cells.ns[CRIT_STATE_BLOCKED][CRIT_CLASS_USER] = 1000 * MS;
	sample.threads[0].idle_blocked_ns = 0;
	summarise_ranks();
	says("Ranks are blocked outside MPI for 1.050 s");
	is_silent_of("ank 1 on node1 is blocked");
	check_sum();
	crit_summary_fini(&summary);
}

/* It is blocked while the other one works: that holds nobody up. */
static void test_blocked_meanwhile(void)
{
	fill();
	sample.checks[0].active_ns = sample.checks[1].active_ns = 1290 * MS;
	sample.ranks[0].active_ns = 1290 * MS;
	sample.nodes[0].busy_ns = 1490 * MS;
	sample.nodes[0].shortage.waiting_ns = 0;
	sample.threads[0].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_USER] = 1290 * MS;
	sample.threads[0].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_MPI_WAIT] = 10 * MS;
	sample.threads[1].idle_blocked_ns = 1090 * MS;
	summarise_ranks();
	says("Ranks are blocked outside MPI for 0.550 s");
	is_silent_of("in which no rank computes");
	check_sum();
	crit_summary_fini(&summary);
}

/* Rank 1 was killed 900 ms before the end: what rank 0 spins for does not come. */
static void test_gone(void)
{
	fill();
	sample.threads[1].cells.ns[CRIT_STATE_BLOCKED][CRIT_CLASS_USER] = 200 * MS;
	sample.ranks[1].is_open = true;
	sample.ranks[1].exit_ns = sample.results.window_begin_ns + 400 * MS;
	summarise_ranks();
	says("ank 1 on node1 ended without MPI_Finalize, 0.900 s before the others; no rank "
	     "computes for 1.000 s (76.9% of the window)");
	CHECK(summary.lost.loss_s[CRIT_LOSS_CPUS] <= 0.1 + 1e-9);
	check_sum();
	crit_summary_fini(&summary);

	sample.ranks[1].world_number = 1; /* of another launch: rank 0 never waited for it */
	sample.ranks[1].close_ns = sample.ranks[1].exit_ns;
	summarise_ranks();
	is_silent_of("ended without");
	CHECK(summary.lost.gone_s == 0);
	crit_summary_fini(&summary);
}

static void fill_pool_thread(size_t index, const struct crit_cells *cells, uint64_t idle_blocked_ms)
{
	sample.threads[index] = sample.threads[index % 2];
	sample.threads[index].cells = *cells;
	sample.threads[index].idle_blocked_ns = idle_blocked_ms * MS;
}

/*
 * Each rank hands its work to a thread of its own, 300 ms and 1200 ms, which its main thread waits
 * for by a condition variable; then main waits in MPI, and the thread for work.
 */
static void test_pools(void)
{
	static const uint64_t work_ms[] = { 300, 1200 };

	fill();
	sample.nodes[0].shortage.waiting_ns = 0;
	sample.nodes[0].busy_ns = 1500 * MS;
	sample.results.thread_count = 4;
	for (size_t i = 0; i < 2; i++) {
		struct crit_cells main_cells = { 0 }, cells = { 0 };

		main_cells.ns[CRIT_STATE_BLOCKED][CRIT_CLASS_USER] = work_ms[i] * MS;
		main_cells.ns[CRIT_STATE_BLOCKED][CRIT_CLASS_MPI_WAIT] = (1300 - work_ms[i]) * MS;
		fill_pool_thread(i, &main_cells, work_ms[i]);
		cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_USER] = work_ms[i] * MS;
		cells.ns[CRIT_STATE_BLOCKED][CRIT_CLASS_USER] = (1300 - work_ms[i]) * MS;
		fill_pool_thread(i + 2, &cells, 1200 - work_ms[i]);
		sample.ranks[i].cells = cells;
		sample.ranks[i].active_ns = work_ms[i] * MS;
		sample.checks[i].active_ns = 1200 * MS;
	}
	summarise();
	CHECK_INT_EQ(summary.verdict, CRIT_VERDICT_IMBALANCE);
	CHECK_NEAR(summary.lost.loss_s[CRIT_LOSS_BLOCKED], 0, 1e-9);
	says("Rank 1 on node1 has 1.6 times the mean work");
	is_silent_of("blocked");
	check_sum();
	crit_summary_fini(&summary);
}

/*
 * Three threads want the CPUs half of the time, of which there are enough.  A part of it the run's
 * own had them, and who else had is not told.
 */
static void test_unclear(void)
{
	results_sample_threads(&sample);
	sample.nodes[0].cpu_count = 4;
	for (int i = 0; i < 3; i++) {
		struct crit_cells *cells = &sample.threads[i].cells;

		*cells = (struct crit_cells){ 0 };
		cells->ns[CRIT_STATE_RUNNING][CRIT_CLASS_NONE] = 1000 * MS;
		cells->ns[CRIT_STATE_RUNNABLE][CRIT_CLASS_NONE] = 950 * MS;
		cells->ns[CRIT_STATE_BLOCKED][CRIT_CLASS_NONE] = 50 * MS;
		sample.threads[i].idle_blocked_ns = 50 * MS;
	}
	sample.preemptors[0] = (struct crit_preemptor_row){ .kind = CRIT_PREEMPTOR_MEMBER,
							    .by_thread = 1,
							    .lost_ns = 100 * MS };
	sample.preemptors[1] = (struct crit_preemptor_row){ .kind = CRIT_PREEMPTOR_OTHERS,
							    .by_thread = -1,
							    .lost_ns = 800 * MS };
	sample.results.preemptor_count = 2;
	summarise();
	CHECK_INT_EQ(summary.verdict, CRIT_VERDICT_EVEN);
	says("No thread stands out: 50.0% of the window is useful work; threads wait for CPUs for "
	     "0.950 s and for each other for 0.000 s, and which of these makes the other is not "
	     "known");
	is_silent_of("locks or sleep"); /* 50 ms of 1000: not what the run is about */
	crit_summary_fini(&summary);
}

/* A limit, or a CPU that sleeps: who took the CPU besides, with or without a name, is not it. */
static void test_nobody_had_it(void)
{
	results_sample_hybrid(&sample);
	sample.preemptors[0] = (struct crit_preemptor_row){ .by_thread = -1,
							    .kind = CRIT_PREEMPTOR_STRANGER,
							    .name = "critd",
							    .count = 10,
							    .lost_ns = 100 * MS };
	sample.preemptors[1] = (struct crit_preemptor_row){ .by_thread = -1,
							    .kind = CRIT_PREEMPTOR_IDLE,
							    .lost_ns = 300 * MS };
	sample.results.preemptor_count = 2;
	summarise();
	CHECK(strstr(summary.preempted_note, "0.400 s without a CPU; 0.300 s of that (75%) while "
					     "nobody had it"));
	crit_summary_fini(&summary);
	sample.preemptors[1].kind = CRIT_PREEMPTOR_UNKNOWN;
	summarise();
	CHECK(strstr(summary.preempted_note, "by whom is not known for 0.300 s of that (75%)"));
	crit_summary_fini(&summary);
}

/*
 * Each of two threads wants a CPU for 900 of 1990 ms, of which one has the CPU for own_ms, and a
 * program outside the run for foreign_ms; who had it for the rest is not told.
 */
static void fill_pressed(uint32_t cpu_count, uint64_t own_ms, uint64_t foreign_ms)
{
	results_sample_threads(&sample);
	sample.nodes[0].cpu_count = cpu_count;
	for (int i = 0; i < 3; i++) {
		struct crit_cells *cells = &sample.threads[i].cells;

		*cells = (struct crit_cells){ 0 };
		cells->ns[CRIT_STATE_RUNNING][CRIT_CLASS_NONE] = i < 2 ? 1000 * MS : 0;
		cells->ns[CRIT_STATE_RUNNABLE][CRIT_CLASS_NONE] = i < 2 ? 900 * MS : 0;
		sample.threads[i].idle_blocked_ns = 0;
	}
	sample.preemptors[0] = (struct crit_preemptor_row){ .kind = CRIT_PREEMPTOR_MEMBER,
							    .by_thread = 1,
							    .lost_ns = own_ms * MS };
	sample.preemptors[1] = (struct crit_preemptor_row){ .kind = CRIT_PREEMPTOR_STRANGER,
							    .by_thread = -1,
							    .name = "hog",
							    .lost_ns = foreign_ms * MS };
	sample.results.preemptor_count = 2;
	summarise();
}

/* Two that could have a CPU each share one where somebody else holds the other. */
static void test_pressed(void)
{
	fill_pressed(2, 1500, 226);
	says("thers had the CPUs for 0.226 s in which threads wanted them, the run's own threads "
	     "for 1.500 s (sum over threads)");
	CHECK(!summary.has_promise);
	crit_summary_fini(&summary);

	fill_pressed(2, 1500, 224); /* too little to be the reason */
	is_silent_of("thers had the CPUs");
	crit_summary_fini(&summary);

	fill_pressed(2, 380, 191); /* so is less than 5 % of the threads' time */
	is_silent_of("thers had the CPUs");
	crit_summary_fini(&summary);

	fill_pressed(1, 500, 400); /* they share it by themselves, if the run is bound to it */
	says("2 threads share 1 online CPU");
	sample.threads[1].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_NONE] = 500 * MS;
	sample.threads[1].cells.ns[CRIT_STATE_RUNNABLE][CRIT_CLASS_NONE] = 300 * MS;
	sample.preemptors[0].lost_ns = 1300 * MS;
	crit_summary_fini(&summary);
	summarise(); /* 1.4 on average */
	says("2 threads share 1 online CPU");
	crit_summary_fini(&summary);

	fill_pressed(2, 100, 600); /* a little is not worth a word */
	says("thers had the CPUs for 0.600 s in which threads wanted them (sum over threads)");
	crit_summary_fini(&summary);
}

/* Where many threads take a little each, those of a process are said together. */
static void test_many_takers(void)
{
	static const uint64_t lost_ms[] = { 60, 50, 70 };

	results_sample_threads(&sample);
	for (int i = 0; i < 3; i++)
		sample.preemptors[i] = (struct crit_preemptor_row){
			.kind = i < 2 ? CRIT_PREEMPTOR_MEMBER : CRIT_PREEMPTOR_STRANGER,
			.by_thread = i < 2 ? i + 1 : -1,
			.name = "hog",
			.count = 4,
			.lost_ns = lost_ms[i] * MS,
		};
	sample.results.preemptor_count = 3;
	summarise();
	CHECK(strstr(summary.preempted_note, "0.180 s while its CPU was taken; 0.110 s of that "
					     "(61%) by 2 threads of process 500, 8 times."));
	crit_summary_fini(&summary);
	sample.preemptors[0].lost_ns = 130 * MS; /* more than half is by one */
	summarise();
	CHECK(strstr(summary.preempted_note,
		     "0.130 s of that (52%) by thread 501 (worker), 4 times."));
	crit_summary_fini(&summary);
}

/* crit's own processes are no load that somebody could look for. */
static void test_crit_itself(void)
{
	fill_pressed(2, 100, 500);
	crit_summary_fini(&summary);
	(void)snprintf(sample.preemptors[1].name, sizeof(sample.preemptors[1].name), "crit-names");
	summarise();
	says("rit itself had the CPUs for 0.500 s in which threads wanted them (sum over threads): "
	     "that is what recording and call paths cost");
	is_silent_of("thers had the CPUs");
	CHECK(!summary.has_promise);
	crit_summary_fini(&summary);

	sample.preemptors[2] = (struct crit_preemptor_row){ .kind = CRIT_PREEMPTOR_STRANGER,
							    .by_thread = -1,
							    .name = "critter",
							    .lost_ns = 150 * MS };
	sample.results.preemptor_count = 3;
	summarise();
	says("rit itself had the CPUs for 0.500 s in which threads wanted them, other programs for "
	     "0.150 s (sum over threads)");
	crit_summary_fini(&summary);

	sample.preemptors[2].lost_ns = 400 * MS; /* another one is worth looking for as well */
	summarise();
	says("thers had the CPUs for 0.900 s in which threads wanted them, crit itself for 0.500 s "
	     "of that (sum over threads)");
	crit_summary_fini(&summary);

	sample.preemptors[0].lost_ns = 300 * MS;
	sample.preemptors[2].lost_ns = 150 * MS;
	summarise();
	says("thers had the CPUs for 0.650 s in which threads wanted them, crit itself for 0.500 s "
	     "of that, the run's own threads for 0.300 s (sum over threads)");
	crit_summary_fini(&summary);

	sample.preemptors[2].lost_ns = 501 * MS;
	summarise();
	says("thers had the CPUs for 1.001 s in which threads wanted them, the run's own threads");
	crit_summary_fini(&summary);
}

/* Two threads take turns for 2 s: each is blocked while the other one computes. */
static void check_turns(const struct crit_cause_table *causes, bool is_mutual)
{
	results_sample_threads(&sample);
	for (int i = 0; i < 3; i++) {
		struct crit_cells *cells = &sample.threads[i].cells;

		*cells = (struct crit_cells){ 0 };
		cells->ns[CRIT_STATE_RUNNING][CRIT_CLASS_NONE] = i < 2 ? 1000 * MS : 0;
		cells->ns[CRIT_STATE_BLOCKED][CRIT_CLASS_NONE] = i < 2 ? 1000 * MS : 0;
		sample.threads[i].idle_blocked_ns = i < 2 ? 1000 * MS : 0;
	}
	summarise();
	summary.sentence[0] = '\0';
	summary.causes = causes;
	crit_verdict_find(&summary);
	says("hreads are blocked for ");
	if (is_mutual)
		says("; they wait for each other: 96% of all waiting is for code of other "
		     "threads");
	else
		is_silent_of("each other");
	crit_summary_fini(&summary);
}

static void test_mutual(void)
{
	struct crit_cause_row rows[] = {
		{ .who = { .thread = 0 }, .cost = 1000 * MS, .share = 0.5 },
		{ .who = { .thread = 1 }, .cost = 920 * MS, .share = 0.46 },
		{ .who = { .thread = CRIT_NONE }, .is_outside = true, .share = 0.04 },
	};
	struct crit_costs costs = { .wait_count = 40 };
	const struct crit_cause_table causes = { .costs = &costs, .rows = rows, .row_count = 3 };

	check_turns(&causes, true);
	rows[1].is_outside = true; /* a timer, or a device */
	check_turns(&causes, false);
	rows[1] = (struct crit_cause_row){ .who = { .thread = 1 },
					   .is_blocked = true, /* it sleeps */
					   .cost = 920 * MS,
					   .share = 0.46 };
	check_turns(&causes, false);
	rows[0].cost = 400 * MS; /* most of what they are blocked is no wait for anybody */
	rows[1] =
		(struct crit_cause_row){ .who = { .thread = 1 }, .cost = 360 * MS, .share = 0.46 };
	check_turns(&causes, false);
	rows[1] = (struct crit_cause_row){ .who = { .thread = 0 }, /* it waits for nobody */
					   .cost = 1000 * MS,
					   .share = 0.46 };
	check_turns(&causes, false);
	check_turns(NULL, false);
}

/* Who comes last at a call holds up nobody where nobody waits there, as leaves of a reduction. */
static void test_last_not_waited_for(void)
{
	const struct crit_last_row *last;
	struct crit_call_row *call = NULL;

	results_sample_barriers(&sample);
	summarise();
	says("n MPI_Barrier");
	says("where it arrives last in 95% of cases");
	crit_summary_fini(&summary);

	for (size_t i = 0; i < sample.results.call_count; i++)
		if (sample.calls[i].call == CRIT_MPI_Barrier)
			call = &sample.calls[i];
	last = &sample.results.messages.lasts[sample.results.messages.collectives[0].first_last];
	if (!CHECK(call && last->late_sum_ns > 100))
		return;
	call->run.waiting_ns = last->late_sum_ns / 10 - 1;
	summarise();
	says("n MPI_Barrier");
	is_silent_of("arrives last");
	crit_summary_fini(&summary);
}

/*
 * A team of three: each works for 10 ms.  Then they sleep for so long, of 1990 ms, in the region;
 * the others wait for it in the barrier, where they spin and now and then have no CPU.
 */
static void fill_team(const uint64_t asleep_ms[3])
{
	results_sample_threads(&sample);
	sample.nodes[0].busy_ns = 30 * MS;
	sample.nodes[0].shortage.waiting_ns = 1900 * MS;
	sample.checks[0].active_ns = 10 * MS;
	for (int i = 0; i < 3; i++) {
		struct crit_cells *cells = &sample.threads[i].cells;
		const uint64_t spun_ms = 1990 - asleep_ms[i];

		sample.threads[i].idle_blocked_ns = 0;
		*cells = (struct crit_cells){ 0 };
		cells->ns[CRIT_STATE_RUNNING][CRIT_CLASS_OMP] = 10 * MS;
		cells->ns[CRIT_STATE_BLOCKED][CRIT_CLASS_OMP] = asleep_ms[i] * MS;
		cells->ns[CRIT_STATE_RUNNABLE][CRIT_CLASS_OMP_WAIT] = spun_ms / 2 * MS;
		cells->ns[CRIT_STATE_RUNNING][CRIT_CLASS_OMP_WAIT] = (spun_ms - spun_ms / 2) * MS;
	}
	summarise();
}

/* Its team waits for a thread that sleeps: more CPUs would end nothing sooner. */
static void test_asleep_in_region(void)
{
	char name[64];

	fill_team((uint64_t[]){ 100, 1950, 100 });
	(void)snprintf(name, sizeof(name), "Thread %u (worker) of process", sample.threads[1].tid);
	says(name);
	says("is blocked in a parallel region for 1.950 s (97.5% of the window) in which no thread "
	     "computes");
	CHECK(summary.lost.loss_s[CRIT_LOSS_CPUS] <= 0.04 + 1e-9);
	check_sum();
	crit_summary_fini(&summary);

	fill_team((uint64_t[]){ 1900, 1950, 1900 }); /* all of them: nobody is the one */
	says("Threads are blocked for");
	is_silent_of("in which no thread computes");
	check_sum();
	crit_summary_fini(&summary);

	fill_team((uint64_t[]){ 0, 0, 0 }); /* nobody: one that spins may have to see what came */
	is_silent_of("blocked");
	CHECK_NEAR(summary.lost.loss_s[CRIT_LOSS_CPUS], 1.9, 1e-9);
	check_sum();
	crit_summary_fini(&summary);
}

/*
 * Rank 1's second thread sleeps in a region, its main thread spins in the barrier, and rank 0 in
 * MPI; now and then one of these two has no CPU.
 */
static void test_asleep_in_rank(void)
{
	struct crit_cells cells[4] = { 0 };

	fill();
	sample.results.thread_count = 4;
	for (size_t i = 0; i < 4; i++)
		cells[i].ns[CRIT_STATE_RUNNING][CRIT_CLASS_OMP] = 300 * MS;
	cells[0].ns[CRIT_STATE_RUNNING][CRIT_CLASS_MPI_WAIT] = 1000 * MS;
	cells[1].ns[CRIT_STATE_RUNNABLE][CRIT_CLASS_OMP_WAIT] = 1000 * MS;
	cells[2].ns[CRIT_STATE_RUNNING][CRIT_CLASS_OMP_IDLE] = 1000 * MS;
	cells[3].ns[CRIT_STATE_BLOCKED][CRIT_CLASS_OMP] = 960 * MS;
	for (size_t i = 0; i < 4; i++)
		fill_pool_thread(i, &cells[i], 0);
	for (size_t i = 0; i < 2; i++) {
		sample.ranks[i].cells = cells[i];
		sample.ranks[i].active_ns = 300 * MS;
	}
	summarise();
	says("Rank 1 on node1 is blocked in a parallel region for 0.960 s (73.8% of the window) in "
	     "which no rank computes");
	CHECK(summary.lost.loss_s[CRIT_LOSS_CPUS] <= 0.04 + 1e-9);
	check_sum();
	crit_summary_fini(&summary);
}

/* Ranks 0 and 1 work for 800 and 400 ms, of which somebody works for any_ms. */
static void fill_turns(uint64_t any_ms)
{
	static const uint64_t run_ms[] = { 800, 400 };

	fill();
	sample.nodes[0].shortage.waiting_ns = 0;
	for (int i = 0; i < 2; i++) {
		struct crit_cells *cells = &sample.threads[i].cells;

		*cells = (struct crit_cells){ 0 };
		cells->ns[CRIT_STATE_RUNNING][CRIT_CLASS_USER] = run_ms[i] * MS;
		cells->ns[CRIT_STATE_RUNNING][CRIT_CLASS_MPI_WAIT] = (1300 - run_ms[i]) * MS;
		sample.threads[i].idle_blocked_ns = 0;
		sample.ranks[i].active_ns = run_ms[i] * MS;
		sample.checks[i].active_ns = any_ms * MS;
	}
	sample.nodes[0].busy_ns = 1200 * MS;
	summarise_ranks();
}

/* Who works while nobody else does gains nothing by having less of it. */
static void test_turns(void)
{
	fill_turns(1180);
	says("Rank 0 on node1 has 1.3 times the mean work");
	says("; they work one after another, and only side by side the run could end sooner, by "
	     "0.580 s (44.6%) at most");
	is_silent_of("balanced");
	CHECK(summary.has_promise);
	CHECK_NEAR(summary.promised_s, 0.58, 1e-9);
	crit_summary_fini(&summary);
	fill_turns(1100);
	says("; balanced, the run could end at most 0.500 s (38.5%) sooner");
	is_silent_of("one after another");
	CHECK_NEAR(summary.promised_s, 0.5, 1e-9);
	crit_summary_fini(&summary);
}

int main(void)
{
	test_many_takers();
	test_turns();
	test_asleep_in_rank();
	test_asleep_in_region();
	test_nobody_had_it();
	test_pressed();
	test_crit_itself();
	test_mutual();
	test_last_not_waited_for();
	test_pools();
	test_unclear();
	test_blocked_rank();
	test_blocked_first();
	test_idle_sleeper();
	test_both_blocked();
	test_blocked_meanwhile();
	test_gone();
	return check_done();
}
