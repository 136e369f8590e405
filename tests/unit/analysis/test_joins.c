// SPDX-License-Identifier: BSD-3-Clause
// The verdict on threads that wait for others to end, and on threads that share CPUs.
#include "report/causes/cause_rows.h"
#include "report/findings/verdict.h"
#include "report/findings/verdict_cause.h"
#include "tests/unit/report/test_verdict.h"

static struct crit_await_row awaits[2];

/*
 * A main thread works alone for 300 ms, starts two workers, and waits for them to end: for the
 * first one, then for the second one.  Both CPUs are full then, and nobody wants another one.
 */
static void fill_joins(uint64_t first_ms, uint64_t second_ms)
{
	const uint64_t most_ms = first_ms > second_ms ? first_ms : second_ms;
	const uint64_t run_ms[] = { 300, first_ms, second_ms };

	results_sample_threads(&sample);
	sample.results.window_ns = (300 + most_ms) * MS;
	sample.checks[0].active_ns = sample.results.window_ns;
	sample.checks[0].window_ns = sample.results.window_ns;
	sample.nodes[0].cpu_count = 2;
	sample.nodes[0].busy_ns = (300 + first_ms + second_ms) * MS;
	sample.nodes[0].shortage.full_ns = (first_ms + second_ms - most_ms) * MS;
	sample.nodes[0].shortage.full_unit_ns[CRIT_UNIT_THREADS] =
		2 * sample.nodes[0].shortage.full_ns;
	for (int i = 0; i < 3; i++) {
		struct crit_thread_row *thread = &sample.threads[i];

		thread->cells = (struct crit_cells){ 0 };
		thread->cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_NONE] = run_ms[i] * MS;
		thread->birth_ns = (i ? 5300 : 5000) * MS;
		thread->death_ns = i ? (5300 + run_ms[i]) * MS : (5300 + most_ms) * MS + 1;
		thread->idle_blocked_ns = i ? 0 : most_ms * MS;
	}
	sample.threads[0].cells.ns[CRIT_STATE_BLOCKED][CRIT_CLASS_NONE] = most_ms * MS;
	awaits[0] = (struct crit_await_row){ .since_ns = 5300 * MS,
					     .until_ns = sample.threads[1].death_ns,
					     .ended = 1,
					     .is_certain = true };
	awaits[1] = (struct crit_await_row){ .since_ns = sample.threads[1].death_ns + 1,
					     .until_ns = sample.threads[2].death_ns,
					     .ended = 2,
					     .is_certain = true };
	sample.results.awaits = awaits;
	sample.results.await_count = second_ms > first_ms ? 2 : 1;
}

/* Who waits for others to end is not there: they have its place, and it has a serial part. */
static void test_joins(void)
{
	fill_joins(500, 500);
	summarise();
	CHECK_NEAR(summary.lost.units, 2, 0);
	CHECK_INT_EQ(summary.lost.named_count, 0);
	CHECK_NEAR(summary.lost.loss_s[CRIT_LOSS_CPUS], 0, 1e-9);
	CHECK_NEAR(summary.lost.loss_s[CRIT_LOSS_BLOCKED], 0, 1e-9);
	CHECK_NEAR(summary.lost.loss_s[CRIT_LOSS_IMBALANCE], 0.3 / 2, 1e-9);
	says("Thread 500 (main) of process 500 works alone for 0.300 s (37.5% of the window)");
	says("at most 0.150 s (18.8%) sooner");
	is_silent_of("CPU");
	is_silent_of("one after another");
	check_sum();
	crit_summary_fini(&summary);
	/* a lock that the first worker has to its end: the same, as long as two are there */
	awaits[0].is_certain = false;
	summarise();
	CHECK_NEAR(summary.lost.units, 2, 0);
	crit_summary_fini(&summary);
	/* the main thread blocks in something else: then it is one more, but wants no CPU */
	sample.results.await_count = 0;
	summarise();
	CHECK_NEAR(summary.lost.units, 3, 0);
	says("hreads are blocked for 0.167 s");
	is_silent_of("CPU");
	check_sum();
	crit_summary_fini(&summary);
}

/* A worker takes 50 ms to be gone once the main thread knows, and has started the next one. */
static void test_gone_late(void)
{
	fill_joins(500, 500);
	sample.threads[1].death_ns += 50 * MS;
	for (int i = 0; i < 2; i++) {
		sample.threads[2].birth_ns = (5300 + (i ? 500 : 550)) * MS;
		sample.threads[2].death_ns = sample.threads[2].birth_ns + 500 * MS;
		sample.threads[0].death_ns = sample.threads[2].death_ns + 1;
		awaits[1] = (struct crit_await_row){ .since_ns = sample.threads[2].birth_ns,
						     .until_ns = sample.threads[2].death_ns,
						     .ended = 2,
						     .is_certain = true };
		sample.results.await_count = 2;
		sample.results.window_ns = sample.threads[0].death_ns - 5000 * MS;
		sample.checks[0].active_ns = sample.results.window_ns;
		sample.checks[0].window_ns = sample.results.window_ns;
		summarise();
		CHECK_NEAR(summary.lost.units, 1, 0);
		crit_summary_fini(&summary);
	}
	sample.results.awaits =
		&awaits[1]; /* nobody waits for the first one's end: all are there */
	sample.results.await_count = 1;
	sample.threads[2].birth_ns -= 250 * MS;
	summarise();
	CHECK_NEAR(summary.lost.units, 3, 0);
	crit_summary_fini(&summary);
}

/* Of two workers one has twice the work, and is named, as is the serial part. */
static void test_uneven_joins(void)
{
	fill_joins(300, 600);
	summarise();
	CHECK_NEAR(summary.lost.units, 2, 0);
	says("Thread 502 (worker) of process 500 has 1.3 times the mean work");
	says("; thread 500 (main) of process 500 works alone for 0.300 s (33.3% of the window)");
	check_sum();
	crit_summary_fini(&summary);
}

/*
 * Threads 1 and 2 work for 1100 and 900 ms of 1300; thread 0 does nothing but wait for the end of
 * thread 1, which thread 2 has waited for, too.
 */
static void fill_joined(const struct crit_cause_table *causes, uint64_t second_ms)
{
	static struct crit_await_row await;
	const uint64_t run_ms[] = { 1, 1100, second_ms };

	results_sample_threads(&sample);
	await = (struct crit_await_row){
		.since_ns = 5001 * MS, .until_ns = 6301 * MS, .ended = 1, .is_certain = true
	};
	sample.results.awaits = &await;
	sample.results.await_count = 1;
	for (int i = 0; i < 3; i++) {
		struct crit_thread_row *thread = &sample.threads[i];

		thread->cells = (struct crit_cells){ 0 };
		thread->cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_NONE] = run_ms[i] * MS;
		thread->cells.ns[CRIT_STATE_BLOCKED][CRIT_CLASS_NONE] = (1302 - run_ms[i]) * MS;
		thread->idle_blocked_ns = (1302 - run_ms[i]) * MS;
		thread->birth_ns = 5000 * MS;
		thread->death_ns = 6302 * MS;
	}
	sample.threads[1].death_ns = 6301 * MS;
	summarise();
	summary.sentence[0] = '\0';
	summary.causes = causes;
	crit_verdict_find(&summary);
}

/* A main thread that joins is none that is held up; others who wait for the same are. */
static void test_joined(void)
{
	struct crit_cause_row row = { .who = { .rank = CRIT_NONE, .thread = 1 }, .share = 1 };
	struct crit_waiter_row pairs[] = {
		{ .from = { .thread = 0 }, .to = { .thread = 1 }, .raw_ns = 1300 * MS },
		{ .from = { .thread = 2 }, .to = { .thread = 1 }, .raw_ns = 400 * MS },
	};
	struct crit_costs costs = { .wait_count = 40, .waiting = 1700 * MS };
	const struct crit_cause_table causes = {
		.costs = &costs, .rows = &row, .row_count = 1, .pairs = pairs, .pair_count = 2
	};
	char text[CRIT_CAUSE_SENTENCE];
	size_t unit_row;

	row.cost = row.direct = 1700 * MS;
	fill_joined(&causes, 700);
	says("Thread 501 (worker) of process 500 has 1.2 times the mean work; the others wait "
	     "0.400 s");
	CHECK_NEAR(crit_verdict_waited(&summary, 1), 0.4, 1e-9);
	row.cost = 1660 * MS; /* of 40 ms nobody knows whether thread 2 waits for them */
	pairs[1].raw_ns = 300 * MS;
	CHECK_NEAR(crit_verdict_waited(&summary, 1), 0.36, 1e-9);
	row.share = 1660 / 1700.0;
	crit_verdict_cause(&summary, text, sizeof(text), &unit_row);
	CHECK_STR_EQ(text, "90% of all waiting is for thread 501 (worker), ");
	row.share = 1; /* nearly all is for its end: nothing to be told */
	pairs[1].raw_ns = 50 * MS;
	costs.waiting = 1350 * MS;
	crit_verdict_cause(&summary, text, sizeof(text), &unit_row);
	CHECK_STR_EQ(text, "");
	crit_summary_fini(&summary);
}

/*
 * A thread that does next to nothing waits for a timer, or idles in a pool: it is not held up.  Who
 * goes on in each step is, and so is a main thread; and the unit's own sleep counts.
 */
static void test_idle(void)
{
	static const struct {
		const char *name;
		uint32_t waiter, waits_for; /* CRIT_NONE: nobody of the run */
		uint64_t count;
		uint32_t tid;
		double share, waited_s;
		const char *cause;
	} cases[] = {
		{ "ticker", 0, CRIT_NONE, 100, 503, 400 / 1700.0, 0.4, "100% of all waiting" },
		{ "pool", 0, 1, 2, 503, 1, 0.4, "100% of all waiting" },
		{ "in each step", 0, 1, 40, 503, 1, 1.7, "100% of all waiting" },
		{ "main thread", 0, 1, 2, 500, 1, 1.7, "100% of all waiting" },
		{ "unit sleeps", 2, CRIT_NONE, 100, 503, 400 / 1700.0, 0.4, "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct crit_cause_row row = { .who = { .rank = CRIT_NONE, .thread = 1 },
					      .share = cases[i].share };
		struct crit_waiter_row pairs[] = {
			{ .from = { .thread = cases[i].waiter },
			  .to = { .rank = CRIT_NONE, .thread = cases[i].waits_for },
			  .count = cases[i].count,
			  .raw_ns = 1300 * MS },
			{ .from = { .thread = 2 },
			  .to = { .rank = CRIT_NONE, .thread = 1 },
			  .count = 40,
			  .raw_ns = 400 * MS },
		};
		struct crit_costs costs = { .wait_count = 140, .waiting = 1700 * MS };
		const struct crit_cause_table causes = { .costs = &costs,
							 .rows = &row,
							 .row_count = 1,
							 .pairs = pairs,
							 .pair_count = 2 };
		char text[CRIT_CAUSE_SENTENCE];
		size_t unit_row;

		CHECK_CASE("%s", cases[i].name);
		row.cost = row.direct = (crit_integral)(cases[i].share * 1700 + 0.5) * MS;
		fill_joined(&causes, 700);
		sample.results.await_count = 0;
		sample.threads[0].tid = cases[i].tid;
		CHECK_NEAR(crit_verdict_waited(&summary, 1), cases[i].waited_s, 1e-9);
		crit_verdict_cause(&summary, text, sizeof(text), &unit_row);
		CHECK_INT_EQ(strncmp(text, cases[i].cause, strlen(cases[i].cause)), 0);
		CHECK_INT_EQ(!text[0], !cases[i].cause[0]);
		crit_summary_fini(&summary);
	}
	CHECK_CASE("%s", "");
}

/* Of several threads one has all the work, and the others wait for it, also while it sleeps. */
static void test_single(void)
{
	struct crit_cause_row row = { .who = { .rank = CRIT_NONE, .thread = 1 }, .share = 1 };
	struct crit_waiter_row pair = {
		.from = { .thread = 2 }, .to = { .thread = 1 }, .count = 4, .raw_ns = 1300 * MS
	};
	struct crit_costs costs = { .wait_count = 4, .waiting = 1300 * MS };
	const struct crit_cause_table causes = {
		.costs = &costs, .rows = &row, .row_count = 1, .pairs = &pair, .pair_count = 1
	};

	row.cost = row.direct = 1300 * MS;
	for (int is_waited_for = 0; is_waited_for < 2; is_waited_for++) {
		struct crit_cells *cells = &sample.threads[1].cells;

		CHECK_CASE("%s", is_waited_for ? "waited for" : "for its end alone");
		fill_joined(&causes, 1);
		crit_summary_fini(&summary);
		cells->ns[CRIT_STATE_RUNNING][CRIT_CLASS_NONE] = 1000 * MS;
		cells->ns[CRIT_STATE_BLOCKED][CRIT_CLASS_NONE] = 1000 * MS; /* it sleeps */
		sample.threads[1].idle_blocked_ns = 0;
		sample.checks[0].active_ns = 1000 * MS;
		sample.results.await_count = is_waited_for ? 0 : 1;
		summarise();
		summary.sentence[0] = '\0';
		summary.causes = &causes;
		crit_verdict_find(&summary);
		CHECK_INT_EQ(summary.lost.unit_count, 1);
		CHECK_INT_EQ(summary.verdict, CRIT_VERDICT_BLOCKED);
		if (is_waited_for)
			says("; only thread 501 (worker) of process 500 has much to do; it is "
			     "active for ");
		else
			is_silent_of("only thread");
		crit_summary_fini(&summary);
	}
	CHECK_CASE("%s", "");
}

/* Two threads that a lock serialises, held to the end by the one that the other has made. */
static void test_lock_to_the_end(void)
{
	fill_joins(500, 0);
	sample.results.thread_count = 2;
	sample.threads[0].birth_ns = 4800 * MS;
	sample.threads[1].birth_ns = 4800 * MS;
	awaits[0].since_ns = 4800 * MS + 1;
	awaits[0].is_certain = false;
	summarise();
	CHECK_NEAR(summary.lost.units, 2, 0);
	CHECK_NEAR(summary.lost.serial_s, 0, 0);
	says("hreads are blocked for ");
	crit_summary_fini(&summary);
	awaits[0].is_certain = true;
	summarise();
	CHECK_NEAR(summary.lost.units, 1, 0);
	crit_summary_fini(&summary);
}

/* Three threads on two CPUs: it costs what they wanted in vain, not that one of them is gone. */
static void test_threads_that_share(void)
{
	static const enum crit_preemptor_kind kinds[] = { CRIT_PREEMPTOR_MEMBER,
							  CRIT_PREEMPTOR_IDLE };

	for (int k = 0; k < 2; k++) {
		fill_joins(500, 500);
		sample.results.await_count = 0;
		sample.threads[0].cells.ns[CRIT_STATE_BLOCKED][CRIT_CLASS_NONE] = 0;
		sample.threads[0].idle_blocked_ns = 0;
		sample.threads[0].cells.ns[CRIT_STATE_RUNNABLE][CRIT_CLASS_NONE] = k ? 0 : 500 * MS;
		sample.nodes[0].shortage.full_unit_ns[CRIT_UNIT_THREADS] += k ? 0 : 500 * MS;
		sample.preemptors[0] = (struct crit_preemptor_row){ .kind = kinds[k],
								    .by_thread = 1,
								    .lost_ns = 500 * MS };
		sample.results.preemptor_count = 1;
		summarise();
		/* wanted or waited in vain, and what imbalance has beyond the gain */
		CHECK_NEAR(summary.lost.loss_s[CRIT_LOSS_CPUS], (0.5 + 0.15) / 3, 1e-9);
		if (k)
			is_silent_of("CPU");
		else
			says("3 threads share 2 online CPUs: that costs 0.217 s");
		check_sum();
		crit_summary_fini(&summary);
	}
}

/* Beside two equal workers two threads do 7 % each: the same, or something else, or who knows. */
static void test_helpers(void)
{
	static const uint64_t run_ms[] = { 1000, 1000, 70, 70 };
	static const uint32_t kinds[2][4] = { { 1, 1, 2, 0 }, { 1, 1, 1, 1 } };
	struct crit_lost_time lost;

	results_sample_threads(&sample);
	sample.results.thread_count = 4;
	sample.threads[3] = sample.threads[2];
	for (int i = 0; i < 4; i++) {
		struct crit_thread_row *thread = &sample.threads[i];

		thread->cells = (struct crit_cells){ 0 };
		thread->cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_NONE] = run_ms[i] * MS;
		thread->cells.ns[CRIT_STATE_BLOCKED][CRIT_CLASS_NONE] = (2000 - run_ms[i]) * MS;
		thread->idle_blocked_ns = (2000 - run_ms[i]) * MS;
	}
	summarise();
	CHECK_UINT_EQ(summary.lost.unit_count, 4);
	CHECK_INT_EQ(summary.lost.named_count, 0);
	is_silent_of("mean work");
	check_sum();
	crit_summary_fini(&summary);
	CHECK_INT_EQ(crit_lost_time_of(&sample.results, kinds[0], &lost), 0);
	CHECK_NEAR(lost.peers, 2, 1e-9);
	CHECK_INT_EQ(lost.named_count, 0);
	/* the same as the workers do: those have 1.9 times the mean */
	CHECK_INT_EQ(crit_lost_time_of(&sample.results, kinds[1], &lost), 0);
	CHECK_NEAR(lost.peers, 4, 1e-9);
	CHECK_INT_EQ(lost.named_count, 2);
	CHECK_NEAR(lost.named[0].work_ratio, 1000 / 535.0, 1e-9);
}

/* Threads that work all of their short lives are peers, however little each of them does. */
static void test_short_lives(void)
{
	results_sample_threads(&sample);
	for (int i = 0; i < 3; i++) {
		const uint64_t run_ms = i ? 100 : 900;
		struct crit_thread_row *thread = &sample.threads[i];

		thread->cells = (struct crit_cells){ 0 };
		thread->cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_NONE] = run_ms * MS;
		thread->life_ns = run_ms * MS;
		thread->birth_ns = (5000 + (i ? 400 * (uint64_t)i : 0)) * MS;
		thread->death_ns = thread->birth_ns + run_ms * MS;
		thread->idle_blocked_ns = 0;
	}
	summarise();
	CHECK(!summary.lost.has_helpers);
	CHECK_NEAR(summary.lost.peers, summary.lost.units, 1e-9);
	crit_summary_fini(&summary);
}

/*
 * Five threads or processes of 30 ms each are there before one that works for 900 ms: what the run
 * does, or a shell that starts it.
 */
static void test_short_processes(void)
{
	for (uint32_t is_shell = 0; is_shell < 2; is_shell++) {
		results_sample_threads(&sample);
		sample.results.thread_count = 6;
		for (uint32_t i = 0; i < 6; i++) {
			const uint64_t run_ms = i ? 30 : 900;
			struct crit_thread_row *thread = &sample.threads[i];

			*thread = sample.threads[0];
			thread->pid = 500 + i * is_shell;
			thread->cells = (struct crit_cells){ 0 };
			thread->cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_NONE] = run_ms * MS;
			thread->life_ns = run_ms * MS;
			thread->birth_ns = (i ? 5000 : 5030) * MS;
			thread->death_ns = thread->birth_ns + run_ms * MS;
			thread->idle_blocked_ns = 0;
		}
		summarise();
		CHECK_UINT_EQ(summary.lost.unit_count, is_shell ? 1 : 6);
		CHECK_NEAR(summary.lost.units, is_shell ? 1 : 5, 0);
		crit_summary_fini(&summary);
	}
}

/* It has next to nothing to do, but waits for its team: the other one is compared with it. */
static void test_team(void)
{
	static const uint64_t run_ms[] = { 2000, 20 };

	results_sample_threads(&sample);
	sample.results.thread_count = 2;
	sample.nodes[0].busy_ns = 2020 * MS;
	for (int i = 0; i < 2; i++) {
		struct crit_cells *cells = &sample.threads[i].cells;

		*cells = (struct crit_cells){ 0 };
		cells->ns[CRIT_STATE_RUNNING][CRIT_CLASS_NONE] = run_ms[i] * MS;
		cells->ns[CRIT_STATE_BLOCKED][CRIT_CLASS_OMP_WAIT] = (2000 - run_ms[i]) * MS;
		sample.threads[i].idle_blocked_ns = 0;
	}
	summarise();
	CHECK_INT_EQ(summary.lost.unit_count, 2);
	CHECK_INT_EQ(summary.lost.named_count, 1);
	says("has 2.0 times the mean work");
	check_sum();
	crit_summary_fini(&summary);

	sample.threads[1].cells.ns[CRIT_STATE_BLOCKED][CRIT_CLASS_OMP_WAIT] = 0; /* it sleeps */
	sample.threads[1].cells.ns[CRIT_STATE_BLOCKED][CRIT_CLASS_NONE] = 1980 * MS;
	summarise();
	CHECK_INT_EQ(summary.lost.unit_count, 1);
	says("There is one thread only, so nobody else is held up");
	crit_summary_fini(&summary);
}

int main(void)
{
	test_joined();
	test_idle();
	test_single();
	test_team();
	test_joins();
	test_gone_late();
	test_uneven_joins();
	test_lock_to_the_end();
	test_threads_that_share();
	test_helpers();
	test_short_lives();
	test_short_processes();
	return check_done();
}
