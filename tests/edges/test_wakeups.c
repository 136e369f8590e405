// SPDX-License-Identifier: BSD-3-Clause
//
// Edges of wakeups against the simulator: random schedules of 1 to 3 nodes, in which a thread on a
// CPU wakes another one, or an interrupt does, which names no waker.
//
//   test-wakeups [COUNT [SEED]]
#include "tests/edges/told_edges.h"
#include "tests/lib/check.h"
#include "tests/sim/scenario.h"

#define SEEDS 150

/* When the thread of an event went to sleep. */
static uint64_t asleep_since(const struct crit_scenario *s, const struct crit_scenario_event *woken)
{
	const struct crit_scenario_event *e = woken;

	while (e-- > s->events) {
		if (e->kind == CRIT_EV_SWITCH && e->thread == woken->thread)
			return e->time_ns;
	}
	return woken->time_ns; /* it is new */
}

/* What there is to hear of a scenario's wakeups; yields how many have no waker. */
static uint64_t find_wakeups(const struct crit_scenario *s, struct sim_edges *ret_truth)
{
	uint64_t without = 0;

	*ret_truth = (struct sim_edges){ 0 };
	for (const struct crit_scenario_event *e = s->events; e < s->events + s->event_count; e++) {
		uint64_t end_ns = s->window_ns[e->node];
		bool is_told = s->has_kernel[e->node] && (!end_ns || e->time_ns <= end_ns);

		if ((e->kind != CRIT_EV_WAKE && e->kind != CRIT_EV_FORK) || !is_told)
			continue;
		if (e->other == CRIT_SCENARIO_NONE) {
			without++;
			continue;
		}
		sim_edges_add(ret_truth, &(struct sim_edge){ .begin_ns = asleep_since(s, e),
							     .end_ns = e->time_ns,
							     .cause_ns = e->time_ns,
							     .waiter = s->threads[e->thread].tid,
							     .cause = s->threads[e->other].tid,
							     .kind = CRIT_EDGE_WAKEUP });
	}
	return without;
}

/* Yields how many wakeups had a waker, and adds those that had none. */
static uint64_t check_seed(uint64_t seed, uint64_t *without)
{
	struct crit_scenario_shape shape = crit_scenario_draw(seed, 400);
	struct crit_scenario *s = crit_scenario_simulate(&shape);
	struct crit_maker *makers[CRIT_SCENARIO_NODES];
	struct crit_results *results;
	struct sim_edges told, truth;
	uint64_t count;

	CHECK_CASE("seed %llu, %u nodes", (unsigned long long)seed, s->node_count);
	for (uint32_t node = 0; node < s->node_count; node++)
		makers[node] = crit_scenario_record(s, node, NULL);
	*without += find_wakeups(s, &truth);
	count = truth.count;
	results = crit_told_edges_alone(makers, s->node_count, &told);
	CHECK_UINT_EQ(crit_told_edges_differences(&told, &truth, results, NULL), 0);
	sim_edges_fini(&told);
	if (s->node_count > 1) {
		crit_told_edges_together(makers, s->node_count, 2, 7, &told);
		CHECK_UINT_EQ(crit_told_edges_differences(&told, &truth, results, NULL), 0);
		sim_edges_fini(&told);
	}
	crit_results_destroy(results);
	sim_edges_fini(&truth);
	for (uint32_t node = 0; node < s->node_count; node++)
		crit_maker_destroy(makers[node]);
	crit_scenario_destroy(s);
	return count;
}

int main(int argc, char **argv)
{
	uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : SEEDS;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	uint64_t with = 0, without = 0;

	for (uint64_t i = 0; i < count; i++)
		with += check_seed(seed + i, &without);
	CHECK_MSG(with >= 10 * count && without >= count, "%llu wakeups with waker, %llu without",
		  (unsigned long long)with, (unsigned long long)without);
	return check_done();
}
