// SPDX-License-Identifier: BSD-3-Clause
//
// Films of simulated runs full of messages: the laws hold, and wait states are those of the latest
// of the edges that the replay told of each wait; of runs with teams, and their locks.
//
//   test-filming [COUNT [SEED]]
#include "analysis/schema/edge.h"
#include "analysis/waits/filmed_thread.h"
#include "analysis/waits/filming.h"
#include "core/base/call.h"
#include "tests/lib/check_scratch.h"
#include "tests/edges/told_edges.h"
#include "tests/sim/handoffs.h"
#include "tests/sim/messages.h"

#define SEEDS 40

struct state { /* wait state of a call */
	uint64_t begin_ns, cause_ns;
	uint32_t waiter, cause;
};

static int by_wait(const void *left, const void *right)
{
	const struct state *a = left, *b = right;

	if (a->waiter != b->waiter)
		return crit_by_number(a->waiter, b->waiter);
	if (a->begin_ns != b->begin_ns)
		return crit_by_number(a->begin_ns, b->begin_ns);
	if (a->cause_ns != b->cause_ns)
		return crit_by_number(b->cause_ns, a->cause_ns);
	return crit_by_number(a->cause, b->cause);
}

/* The size from which on sends wait: the smallest that did above all that did not. */
static uint64_t smallest_wait(const struct sim_edges *told)
{
	uint64_t at_once = 0, smallest = UINT64_MAX;

	for (size_t i = 0; i < told->count; i++) {
		const struct sim_edge *edge = &told->rows[i];

		if (edge->kind == CRIT_EDGE_RENDEZVOUS && edge->cause_ns >= edge->end_ns &&
		    edge->bytes >= at_once)
			at_once = edge->bytes + 1;
	}
	for (size_t i = 0; i < told->count; i++) {
		const struct sim_edge *edge = &told->rows[i];

		if (edge->kind == CRIT_EDGE_RECEIVER && edge->bytes >= at_once &&
		    edge->bytes < smallest)
			smallest = edge->bytes;
	}
	return smallest;
}

/* Does the waiter need the cause? */
static bool is_needed(const struct sim_edge *edge, uint64_t from_bytes)
{
	if (edge->kind == CRIT_EDGE_RENDEZVOUS)
		return edge->cause_ns < edge->end_ns && edge->bytes >= from_bytes;
	return edge->kind <= CRIT_EDGE_COLLECTIVE;
}

/* Sums of raw time by pairs of threads, from the edges alone. */
static uint64_t *raw_of(const struct sim_edges *told, size_t threads)
{
	uint64_t *raw = calloc(threads * threads, sizeof(*raw));
	struct state *states = calloc(told->count + 1, sizeof(*states));
	const uint64_t from_bytes = smallest_wait(told);
	size_t count = 0;

	for (size_t i = 0; raw && states && i < told->count; i++) {
		const struct sim_edge *edge = &told->rows[i];
		const uint64_t cause_ns = edge->cause_ns < edge->end_ns ? edge->cause_ns
									: edge->end_ns;

		if (is_needed(edge, from_bytes) && cause_ns > edge->begin_ns &&
		    edge->waiter != edge->cause)
			states[count++] = (struct state){ edge->begin_ns, cause_ns, edge->waiter,
							  edge->cause };
	}
	qsort(states, count, sizeof(*states), by_wait);
	for (size_t i = 0; i < count; i++) {
		if (!i || states[i].waiter != states[i - 1].waiter ||
		    states[i].begin_ns != states[i - 1].begin_ns)
			raw[states[i].waiter * threads + states[i].cause] +=
				states[i].cause_ns - states[i].begin_ns;
	}
	free(states);
	return raw;
}

static uint64_t check_edges(const struct crit_costs *costs, const struct sim_edges *told,
			    size_t threads)
{
	uint64_t *raw = raw_of(told, threads), sum_ns = 0;

	for (size_t i = 1; i < costs->edge_count; i++) {
		const struct crit_wait_edge *edge = &costs->edges[i];
		uint64_t *known = &raw[edge->from * threads + edge->to];

		CHECK_UINT_EQ(edge->raw_ns, *known);
		sum_ns += edge->raw_ns;
		*known = 0;
	}
	for (size_t i = 0; i < threads * threads; i++)
		CHECK_UINT_EQ(raw[i], 0);
	free(raw);
	return sum_ns;
}

/* Where nothing changes a run ends when it did; without transfer it ends no later. */
static void check_forecast(struct crit_filming *filming)
{
	const struct crit_scenario scenarios[] = { { 0 }, { .is_without_transfer = true } };
	struct crit_filmed_run run = { 0 };
	struct crit_forecast forecast = { 0 };
	struct crit_err err = { "" };

	if (CHECK_MSG(crit_filming_resolve(filming, &run, &err) == 0, "%s", err.text)) {
		run.options.scenarios = scenarios;
		run.options.scenario_count = 2;
		if (CHECK_MSG(crit_forecast_play(run.film, &run.options, &forecast, &err) == 0,
			      "%s", err.text)) {
			CHECK_UINT_EQ(forecast.end_ns[0], forecast.recorded_ns);
			CHECK_UINT_EQ(forecast.order_changes[0], 0);
			CHECK(forecast.recorded_ns > 0);
			CHECK(forecast.end_ns[1] <= forecast.end_ns[0]);
		}
		crit_forecast_fini(&forecast);
	}
	crit_filmed_run_fini(&run);
}

static uint64_t check_seed(uint64_t seed)
{
	const struct crit_filming_options options = {
		.file = { .directory = check_scratch, .max_bytes = 1u << 28 },
		.has_needs = true,
	};
	static struct sim_messages w;
	struct crit_filming *filming = NULL;
	struct crit_results *results = NULL, *others;
	struct crit_costs costs = { 0 };
	struct crit_err err = { "" };
	struct sim_edges told;
	uint64_t sum_ns = 0;

	CHECK_CASE("seed %llu", (unsigned long long)seed);
	sim_messages_make(&w, seed, 0);
	others = crit_told_edges_sends(w.m, &told);
	CHECK_INT_EQ(crit_filming_create(&options, &filming, &err), 0);
	if (CHECK(!crit_told_edges_film(w.m, filming, &results)) &&
	    CHECK_MSG(crit_filming_play(filming, 10000, &costs, &err) == 0, "%s", err.text)) {
		CHECK_MSG(crit_costs_check(&costs, &err) == 0, "%s", err.text);
		/* the simulator lets some messages arrive before they are sent */
		CHECK(!costs.cycle_count || crit_filming_counts(filming).clamped);
		CHECK_UINT_EQ(crit_filming_counts(filming).missed, 0);
		check_forecast(filming);
		if (!costs.cycle_count)
			sum_ns = check_edges(&costs, &told, results->thread_count);
	}
	crit_costs_fini(&costs);
	crit_filming_destroy(filming);
	crit_results_destroy(results);
	crit_results_destroy(others);
	sim_edges_fini(&told);
	sim_edges_fini(&w.edges);
	crit_maker_destroy(w.m);
	return sum_ns;
}

/* How long threads waited until their locks were released. */
static uint64_t lock_waits_of(const struct sim_edges *edges)
{
	uint64_t sum_ns = 0;

	for (size_t i = 0; i < edges->count; i++) {
		const struct sim_edge *edge = &edges->rows[i];
		const uint64_t cause_ns = edge->cause_ns < edge->end_ns ? edge->cause_ns
									: edge->end_ns;

		if (edge->kind == CRIT_EDGE_LOCK && cause_ns > edge->begin_ns)
			sum_ns += cause_ns - edge->begin_ns;
	}
	return sum_ns;
}

/* The same from a film, to locks; what each lock's holders let wait is as much. */
static uint64_t check_locks(const struct crit_costs *costs)
{
	uint64_t sum_ns = 0;
	crit_integral held = 0, waited = 0;

	for (size_t i = 1; i < costs->edge_count; i++) {
		const struct crit_wait_edge *edge = &costs->edges[i];

		if (edge->to & CRIT_FILM_OBJECT) {
			sum_ns += edge->raw_ns;
			waited += edge->impact;
		}
		if (edge->from & CRIT_FILM_OBJECT)
			held += edge->impact;
	}
	CHECK(held <= waited);
	CHECK(!waited || held > 0);
	return sum_ns;
}

/* Teams that hand locks on: told of late or not, all that waits for a lock hangs on it. */
static uint64_t check_handoffs(uint64_t seed)
{
	const struct crit_filming_options options = {
		.file = { .directory = check_scratch, .max_bytes = 1u << 28 },
		.has_needs = true,
	};
	struct sim_handoffs w = { .seed = seed,
				  .nodes = 1,
				  .ranks = 1 + (uint32_t)(seed % 3),
				  .threads = 1 + (uint32_t)(seed * 7 % SIM_HANDOFFS_THREADS),
				  .regions = 1 + (uint32_t)(seed % 5),
				  .is_late = seed / 2 % 2 };
	struct crit_filming *filming = NULL;
	struct crit_results *results = NULL;
	struct crit_costs costs = { 0 };
	struct crit_err err = { "" };
	uint64_t sum_ns;

	CHECK_CASE("handoffs, seed %llu", (unsigned long long)seed);
	sim_handoffs_make(&w);
	sum_ns = lock_waits_of(&w.edges);
	CHECK_INT_EQ(crit_filming_create(&options, &filming, &err), 0);
	if (!crit_told_edges_film(w.makers[0], filming, &results) &&
	    CHECK_MSG(crit_filming_play(filming, 10000, &costs, &err) == 0, "%s", err.text)) {
		CHECK_MSG(crit_costs_check(&costs, &err) == 0, "%s", err.text);
		CHECK_UINT_EQ(costs.cycle_count, 0);
		CHECK_UINT_EQ(crit_filming_counts(filming).missed, 0);
		CHECK_UINT_EQ(check_locks(&costs), sum_ns);
		CHECK(w.threads == 1 || crit_filming_counts(filming).free[CRIT_FREE_LOCK] > 0);
		check_forecast(filming);
	}
	crit_costs_fini(&costs);
	crit_filming_destroy(filming);
	crit_results_destroy(results);
	sim_edges_fini(&w.edges);
	crit_maker_destroy(w.makers[0]);
	return sum_ns;
}

static void sleep_for(struct crit_filming *filming, uint32_t waker, uint64_t from_ns,
		      uint64_t until_ns)
{
	const struct crit_trace_sink sink = crit_filming_sink(filming);
	const struct crit_listener listener = crit_filming_listener(filming);
	const struct crit_edge woken = { .begin_ns = from_ns,
					 .end_ns = until_ns,
					 .cause_ns = until_ns,
					 .cause = waker,
					 .kind = CRIT_EDGE_WAKEUP };
	const struct crit_event event = { .time_ns = until_ns, .edge = &woken };

	CHECK_INT_EQ(sink.state(filming, 0, from_ns, CRIT_STATE_BLOCKED, 0), 0);
	CHECK_INT_EQ(sink.state(filming, 0, until_ns, CRIT_STATE_RUNNABLE, 0), 0);
	if (waker)
		CHECK_INT_EQ(listener.on[CRIT_EVENT_EDGE + CRIT_EDGE_WAKEUP](filming, &event), 0);
	CHECK_INT_EQ(sink.state(filming, 0, until_ns, CRIT_STATE_RUNNING, 0), 0);
}

/*
 * A rank's main thread sleeps from 100 to 400 until another thread wakes it, from 420 to 450 for
 * nobody, from 460 to 490 until its launcher does, which is not of the run, and from 520 to 700 in
 * a call, where the first one wakes it: that is no other wait.
 */
static void check_helper(void)
{
	const struct crit_filming_options options = {
		.file = { .directory = check_scratch, .max_bytes = 1u << 28 },
	};
	const struct crit_trace_span call = { .call = CRIT_MPI_Recv,
					      .span_class = CRIT_CLASS_MPI_WAIT };
	struct crit_thread_row threads[3] = { 0 };
	const struct crit_results run = { .threads = threads, .thread_count = 3, .rank_count = 1 };
	struct crit_filming *filming = NULL;
	struct crit_costs costs = { 0 };
	struct crit_err err = { "" };
	struct crit_trace_sink sink;

	CHECK_CASE("%s", "a rank's helper");
	CHECK_INT_EQ(crit_filming_create(&options, &filming, &err), 0);
	sink = crit_filming_sink(filming);
	CHECK_INT_EQ(sink.begin(filming, &run, 1000), 0);
	for (uint32_t i = 0; i < 2; i++)
		CHECK_INT_EQ(sink.thread_begin(filming, i, 0), 0);
	sleep_for(filming, 1, 100, 400);
	sleep_for(filming, 0, 420, 450);
	sleep_for(filming, 2, 460, 490);
	CHECK_INT_EQ(sink.enter(filming, 0, 500, &call, 0), 0);
	sleep_for(filming, 1, 520, 700);
	CHECK_INT_EQ(sink.leave(filming, 0, 800, &call, NULL), 0);
	for (uint32_t i = 0; i < 2; i++)
		CHECK_INT_EQ(sink.thread_end(filming, i, 1000, NULL), 0);
	if (CHECK_MSG(crit_filming_play(filming, 100, &costs, &err) == 0, "%s", err.text)) {
		CHECK_MSG(crit_costs_check(&costs, &err) == 0, "%s", err.text);
		CHECK_UINT_EQ(costs.edge_count, 2); /* the first is all others */
		CHECK_UINT_EQ(costs.edges[1].from, 0);
		CHECK_UINT_EQ(costs.edges[1].to, 1);
		CHECK_UINT_EQ(costs.edges[1].raw_ns, 300);
		CHECK_INT_EQ((int64_t)costs.waiting, 300 + 300);
		CHECK_UINT_EQ(costs.threads[0].part_ns[CRIT_PART_NESTED], 300);
		for (size_t i = 0; i <= costs.bucket_count; i++)
			CHECK_UINT_EQ(costs.buckets[i].path_ns[CRIT_PART_OUTSIDE], 0);
	}
	crit_costs_fini(&costs);
	crit_filming_destroy(filming);
}

/* A thread that yields waits for a CPU from one time on until another, and so much of it ran. */
static void yield_for(struct crit_filming *filming, uint64_t from_ns, uint64_t until_ns,
		      uint64_t ran_ns)
{
	const struct crit_trace_sink sink = crit_filming_sink(filming);

	CHECK_INT_EQ(sink.state(filming, 0, from_ns, CRIT_STATE_RUNNABLE, 0), 0);
	CHECK_INT_EQ(sink.state(filming, 0, until_ns, CRIT_STATE_RUNNING, ran_ns), 0);
}

/*
 * In a call from 100 to 700 without a cause a rank is in the queue from 200 to 300, but runs for 60
 * of that, from 400 to 450, and from 500 to 600, while it runs; outside of it from 800 to 900, and
 * runs for 30 of that.  What it has no CPU for is 40 + 50, and 70.
 */
static void check_yields(void)
{
	const struct crit_filming_options options = {
		.file = { .directory = check_scratch, .max_bytes = 1u << 28 },
		.has_needs = true,
	};
	const struct crit_trace_span call = { .call = CRIT_MPI_Win_start,
					      .span_class = CRIT_CLASS_MPI_WAIT };
	const uint64_t wanted_ns[] = { 40 + 50, 70 };
	struct crit_thread_row threads[1] = { 0 };
	const struct crit_results run = { .threads = threads, .thread_count = 1, .rank_count = 1 };
	struct crit_filming *filming = NULL;
	struct crit_filmed_run filmed = { 0 };
	struct crit_costs costs = { 0 };
	struct crit_err err = { "" };
	struct crit_trace_sink sink;
	uint64_t path_ns = 0, bucket_ns = 0;

	CHECK_CASE("%s", "yields");
	CHECK_INT_EQ(crit_filming_create(&options, &filming, &err), 0);
	sink = crit_filming_sink(filming);
	CHECK_INT_EQ(sink.begin(filming, &run, 1000), 0);
	CHECK_INT_EQ(sink.thread_begin(filming, 0, 0), 0);
	CHECK_INT_EQ(sink.enter(filming, 0, 100, &call, 0), 0);
	yield_for(filming, 200, 300, 60);
	yield_for(filming, 400, 450, 0);
	yield_for(filming, 500, 600, 100);
	CHECK_INT_EQ(sink.leave(filming, 0, 700, &call, NULL), 0);
	yield_for(filming, 800, 900, 30);
	CHECK_INT_EQ(sink.thread_end(filming, 0, 1000, NULL), 0);
	if (CHECK_MSG(crit_filming_play(filming, 100, &costs, &err) == 0, "%s", err.text)) {
		CHECK_MSG(crit_costs_check(&costs, &err) == 0, "%s", err.text);
		CHECK_UINT_EQ(costs.threads[0].part_ns[CRIT_PART_CPU], wanted_ns[0]);
		CHECK_UINT_EQ(costs.threads[0].part_ns[CRIT_PART_TRANSFER], 600 - wanted_ns[0]);
		for (size_t i = 0; i <= costs.bucket_count; i++)
			path_ns += costs.buckets[i].path_ns[CRIT_PART_CPU];
		CHECK_UINT_EQ(path_ns, wanted_ns[0] + wanted_ns[1]);
		CHECK_UINT_EQ(costs.actless_ns, 600);
	}
	if (CHECK_MSG(crit_filming_resolve(filming, &filmed, &err) == 0, "%s", err.text)) {
		for (size_t i = 0; i < filmed.options.bucket_count; i++)
			bucket_ns += filmed.bucket_ns[i];
		CHECK_UINT_EQ(bucket_ns, 1000 - wanted_ns[0] - wanted_ns[1]);
	}
	crit_filmed_run_fini(&filmed);
	crit_costs_fini(&costs);
	crit_filming_destroy(filming);
}

/*
 * A thread, here the last one, is made in a wait of its creator, which began at 400: the critical
 * path goes on in the creator, in that wait and before it.
 */
static void check_creator(void)
{
	const struct crit_filming_options options = {
		.file = { .directory = check_scratch, .max_bytes = 1u << 28 },
	};
	const struct crit_trace_span barrier = { .call = CRIT_CONSTRUCT_RUNTIME_BARRIER,
						 .span_class = CRIT_CLASS_OMP_WAIT };
	struct crit_thread_row threads[2] = { 0 };
	const struct crit_results run = { .threads = threads, .thread_count = 2 };
	struct crit_filming *filming = NULL;
	struct crit_costs costs = { 0 };
	struct crit_err err = { "" };
	struct crit_trace_sink sink;

	CHECK_CASE("%s", "a thread that is made in a wait");
	CHECK_INT_EQ(crit_filming_create(&options, &filming, &err), 0);
	sink = crit_filming_sink(filming);
	CHECK_INT_EQ(sink.begin(filming, &run, 1000), 0);
	CHECK_INT_EQ(sink.thread_begin(filming, 1, 0), 0);
	CHECK_INT_EQ(sink.enter(filming, 1, 400, &barrier, 0), 0);
	CHECK_INT_EQ(sink.thread_begin(filming, 0, 500), 0);
	sleep_for(filming, 1, 500, 510);
	CHECK_INT_EQ(sink.leave(filming, 1, 600, &barrier, NULL), 0);
	CHECK_INT_EQ(sink.thread_end(filming, 1, 900, NULL), 0);
	CHECK_INT_EQ(sink.thread_end(filming, 0, 1000, NULL), 0);
	if (CHECK_MSG(crit_filming_play(filming, 100, &costs, &err) == 0, "%s", err.text)) {
		uint64_t path_ns[2] = { 0 }; /* waiting, and not */

		CHECK_MSG(crit_costs_check(&costs, &err) == 0, "%s", err.text);
		for (size_t i = 0; i <= costs.bucket_count; i++) {
			path_ns[0] += costs.buckets[i].path_ns[CRIT_PART_TRANSFER];
			path_ns[1] += costs.buckets[i].path_ns[CRIT_PART_SELF];
		}
		CHECK_UINT_EQ(path_ns[0], 510 - 400);
		CHECK_UINT_EQ(path_ns[1], 400 + 1000 - 510);
	}
	crit_costs_fini(&costs);
	crit_filming_destroy(filming);
}

static void call_for(struct crit_filming *filming, uint16_t call, uint64_t from_ns,
		     uint64_t until_ns)
{
	const struct crit_trace_sink sink = crit_filming_sink(filming);
	const struct crit_trace_span span = { .call = call, .span_class = CRIT_CLASS_MPI_WAIT };

	CHECK_INT_EQ(sink.enter(filming, 0, from_ns, &span, 0), 0);
	CHECK_INT_EQ(sink.leave(filming, 0, until_ns, &span, NULL), 0);
}

/*
 * More waits than are remembered of a thread, 7 ns each, of whose causes nothing is told; then
 * three receives: of a message sent meanwhile, of one sent before, and of one nobody knows.
 */
static void check_actless(void)
{
	const struct crit_filming_options options = {
		.file = { .directory = check_scratch, .max_bytes = 1u << 28 },
		.has_needs = true,
	};
	struct crit_thread_row threads[2] = { 0 };
	const struct crit_results run = { .threads = threads, .thread_count = 2, .rank_count = 1 };
	struct crit_edge message = { .cause = 1, .kind = CRIT_EDGE_MESSAGE, .call = CRIT_MPI_Recv };
	const struct crit_event event = { .edge = &message };
	const uint64_t count = 2 * CRIT_FILMING_WAITS + 5;
	struct crit_filming *filming = NULL;
	struct crit_costs costs = { 0 };
	struct crit_err err = { "" };
	struct crit_listener listener;
	struct crit_trace_sink sink;

	CHECK_CASE("%s", "waits without acts");
	CHECK_INT_EQ(crit_filming_create(&options, &filming, &err), 0);
	listener = crit_filming_listener(filming);
	sink = crit_filming_sink(filming);
	CHECK_INT_EQ(sink.begin(filming, &run, 10000), 0);
	for (uint32_t i = 0; i < 2; i++)
		CHECK_INT_EQ(sink.thread_begin(filming, i, 0), 0);
	for (uint64_t i = 0; i < count; i++)
		call_for(filming, CRIT_MPI_Win_wait, 10 * i, 10 * i + 7);
	for (uint64_t i = 0; i < 3; i++) {
		message.begin_ns = 5000 + 1000 * i;
		message.end_ns = message.begin_ns + 50 + i;
		message.cause_ns = i ? 4000 : 5020;
		call_for(filming, CRIT_MPI_Recv, message.begin_ns, message.end_ns);
		if (i < 2)
			CHECK_INT_EQ(listener.on[CRIT_EVENT_EDGE + CRIT_EDGE_MESSAGE](filming,
										      &event),
				     0);
	}
	for (uint32_t i = 0; i < 2; i++)
		CHECK_INT_EQ(sink.thread_end(filming, i, 10000, NULL), 0);
	if (CHECK_MSG(crit_filming_play(filming, 100, &costs, &err) == 0, "%s", err.text)) {
		CHECK_UINT_EQ(costs.actless_ns, 7 * count + 52);
		CHECK_UINT_EQ(costs.actless_most_ns, 7 * count);
		CHECK_UINT_EQ(costs.actless_most_call, CRIT_MPI_Win_wait);
		CHECK_INT_EQ((int64_t)costs.waiting, (int64_t)(7 * count + 50 + 51 + 52));
	}
	crit_costs_fini(&costs);
	crit_filming_destroy(filming);
}

/* As many places as a film tells apart keep their numbers; another one gets the oldest one's. */
static void check_places(void)
{
	const uint32_t most = CRIT_FILM_PLACES - CRIT_FILM_TEAM - 1;
	struct crit_filmed_thread thread = { 0 };
	uint8_t numbers[CRIT_FILM_PLACES], number;

	CHECK_CASE("%s", "places");
	for (uint32_t i = 0; i < most; i++) {
		CHECK_INT_EQ(crit_filmed_place(&thread, 1000 + i, &numbers[i]), 0);
		CHECK_UINT_EQ(numbers[i], CRIT_FILM_TEAM + 1 + i);
	}
	for (uint32_t i = 0; i < most; i++) {
		CHECK_INT_EQ(crit_filmed_place(&thread, 1000 + (i + 7) % most, &number), 0);
		CHECK_UINT_EQ(number, numbers[(i + 7) % most]);
	}
	CHECK_INT_EQ(crit_filmed_place(&thread, 5, &number), 0);
	CHECK_UINT_EQ(number, numbers[7]);
	CHECK_INT_EQ(crit_filmed_place(&thread, 1007, &number), 0);
	CHECK_UINT_EQ(number, numbers[8]);
	CHECK_INT_EQ(crit_filmed_place(&thread, 5, &number), 0);
	CHECK_UINT_EQ(number, numbers[7]);
	CHECK_INT_EQ(crit_filmed_place(&thread, CRIT_EDGE_TEAM, &number), 0);
	CHECK_UINT_EQ(number, CRIT_FILM_TEAM);
	crit_filmed_thread_fini(&thread);
}

int main(int argc, char **argv)
{
	uint64_t lock_ns = 0;

	uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : SEEDS;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	uint64_t sum_ns = 0;

	unsetenv("TMPDIR");
	if (!check_enter_scratch())
		return check_done();
	for (uint64_t i = 0; i < count; i++)
		sum_ns += check_seed(seed + i);
	for (uint64_t i = 0; i < count; i++)
		lock_ns += check_handoffs(seed + i);
	check_helper();
	check_creator();
	check_places();
	check_yields();
	check_actless();
	CHECK_CASE("%s", "");
	CHECK(sum_ns > 0);
	CHECK(lock_ns > 0);
	check_leave_scratch();
	return check_done();
}
