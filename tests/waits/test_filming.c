// SPDX-License-Identifier: BSD-3-Clause
//
// Films of simulated runs full of messages: the laws hold, and wait states are those of the latest
// of the edges that the replay told of each wait.
//
//   test-filming [COUNT [SEED]]
#include <unistd.h>

#include "analysis/analyse.h"
#include "analysis/waits/filming.h"
#include "tests/lib/check_scratch.h"
#include "tests/edges/told_edges.h"
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

/* Sums of raw time by pairs of threads, from the edges alone. */
static uint64_t *raw_of(const struct sim_edges *told, size_t threads)
{
	uint64_t *raw = calloc(threads * threads, sizeof(*raw));
	struct state *states = calloc(told->count + 1, sizeof(*states));
	size_t count = 0;

	for (size_t i = 0; raw && states && i < told->count; i++) {
		const struct sim_edge *edge = &told->rows[i];
		const uint64_t cause_ns = edge->cause_ns < edge->end_ns ? edge->cause_ns
									: edge->end_ns;

		if (edge->kind <= CRIT_EDGE_COLLECTIVE && cause_ns > edge->begin_ns &&
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

static int analyse(struct crit_maker *maker, struct crit_filming *filming,
		   struct crit_results **ret_results)
{
	const struct crit_trace_sink sink = crit_filming_sink(filming);
	const struct crit_listener listener = crit_filming_listener(filming);
	const struct crit_analysis_options options = { .trace = &sink, .listener = &listener };
	const int fd = crit_maker_memfd(maker);
	struct crit_err err = { "" };
	const char *path;
	char name[32];
	int rc;

	(void)snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	path = name;
	rc = crit_analyse(&path, 1, &options, ret_results, &err);
	CHECK_MSG(rc == 0, "%s", err.text);
	close(fd);
	return rc;
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
	others = crit_told_edges_alone(&w.m, 1, &told);
	CHECK_INT_EQ(crit_filming_create(&options, &filming, &err), 0);
	if (!analyse(w.m, filming, &results) &&
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

int main(int argc, char **argv)
{
	uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : SEEDS;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	uint64_t sum_ns = 0;

	unsetenv("TMPDIR");
	if (!check_enter_scratch())
		return check_done();
	for (uint64_t i = 0; i < count; i++)
		sum_ns += check_seed(seed + i);
	CHECK_CASE("%s", "");
	CHECK(sum_ns > 0);
	check_leave_scratch();
	return check_done();
}
