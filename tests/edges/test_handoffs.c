// SPDX-License-Identifier: BSD-3-Clause
//
// Edges of teams, locks, messages and collectives of hybrid runs against the simulator: one rank,
// some, 1,024; runtimes that tell of releases early and late; one process, and several that analyse
// a run together, whose listeners are told the same edges in all.
//
//   test-handoffs [COUNT [SEED]]
#include <errno.h>

#include "tests/edges/edge_counts.h"
#include "tests/edges/told_edges.h"
#include "tests/lib/check.h"
#include "tests/sim/handoffs.h"

#define SEEDS 40

/* Of one communicator alone. */
static uint64_t number_of(uint64_t row)
{
	(void)row;
	return 0;
}

static void check_peers(struct sim_handoffs *w, const struct crit_results *results,
			uint32_t transport)
{
	struct sim_edges told;

	CHECK_CASE("seed %llu, %u processes", (unsigned long long)w->seed, transport);
	crit_told_edges_together(w->makers, w->nodes, transport, w->seed % 2 ? 7 : 0, &told);
	CHECK_UINT_EQ(crit_told_edges_differences(&told, &w->edges, results, number_of), 0);
	sim_edges_fini(&told);
}

static uint64_t seen[CRIT_EDGE_KIND_COUNT]; /* in all runs */

static void check_run(struct sim_handoffs *w)
{
	struct crit_results *results;
	struct sim_edges told;

	CHECK_CASE("seed %llu, %u nodes, %u ranks, %u threads", (unsigned long long)w->seed,
		   w->nodes, w->ranks, w->threads);
	sim_handoffs_make(w);
	results = crit_told_edges_alone(w->makers, w->nodes, &told);
	CHECK_UINT_EQ(crit_told_edges_differences(&told, &w->edges, results, number_of), 0);
	for (size_t i = 0; i < told.count; i++)
		seen[told.rows[i].kind]++;
	if (w->nodes > 1) {
		check_peers(w, results, 2);
		check_peers(w, results, 3);
	}
	crit_results_destroy(results);
	sim_edges_fini(&told);
	sim_edges_fini(&w->edges);
	for (uint32_t i = 0; i < w->nodes; i++)
		crit_maker_destroy(w->makers[i]);
}

static int refuse(void *user, const struct crit_event *event)
{
	(void)user;
	(void)event;
	return -EDOM;
}

/* Is there any edge of the kind in these runs? */
static bool is_there(int kind)
{
	return kind != CRIT_EDGE_NONE && kind != CRIT_EDGE_RECEIVER && kind != CRIT_EDGE_WAKEUP &&
	       kind != CRIT_EDGE_TASK;
}

/* A listener counts what all are told of; one that fails ends the analysis. */
static void check_listeners(void)
{
	struct sim_handoffs w = { .nodes = 2, .ranks = 2, .threads = 3, .regions = 5 };
	struct crit_edge_counts counts = { 0 };
	struct crit_listener listener = crit_edge_counts_listener(&counts);
	struct crit_results *results = NULL;

	sim_handoffs_make(&w);
	CHECK_INT_EQ(crit_told_edges_analyse(w.makers, w.nodes, &listener, &results), 0);
	crit_results_destroy(results);
	for (size_t i = 0; i < w.edges.count; i++)
		counts.by_kind[w.edges.rows[i].kind]--;
	for (int kind = 0; kind < CRIT_EDGE_PAIR_COUNT; kind++) {
		CHECK_CASE("%s", crit_edge_kind_name((enum crit_edge_kind)kind));
		CHECK_UINT_EQ(counts.by_kind[kind], 0);
		listener = (struct crit_listener){ 0 };
		listener.on[CRIT_EVENT_EDGE + kind] = refuse;
		CHECK_INT_EQ(crit_told_edges_analyse(w.makers, w.nodes, &listener, &results),
			     is_there(kind) ? -EDOM : 0);
		if (!is_there(kind))
			crit_results_destroy(results);
	}
	sim_edges_fini(&w.edges);
	for (size_t i = 0; i < w.nodes; i++)
		crit_maker_destroy(w.makers[i]);
}

/* Where short waits may be missing, nobody knows who came last or who had the lock. */
static void check_profile(void)
{
	struct sim_handoffs w = { .ranks = 2, .nodes = 1, .threads = 4, .regions = 5 };
	struct crit_edge_counts counts = { 0 };
	struct crit_listener listener = crit_edge_counts_listener(&counts);
	struct crit_results *results = NULL;

	w.is_profile = true;
	sim_handoffs_make(&w);
	CHECK_INT_EQ(crit_told_edges_analyse(w.makers, w.nodes, &listener, &results), 0);
	CHECK_UINT_EQ(counts.by_kind[CRIT_EDGE_BARRIER], 0);
	CHECK_UINT_EQ(counts.by_kind[CRIT_EDGE_LOCK], 0);
	CHECK_UINT_EQ(counts.by_kind[CRIT_EDGE_MESSAGE], 10);
	CHECK_UINT_EQ(counts.by_kind[CRIT_EDGE_COLLECTIVE], 4); /* in one of five nobody waits */
	crit_results_destroy(results);
	sim_edges_fini(&w.edges);
	crit_maker_destroy(w.makers[0]);
}

static void check_seed(uint64_t seed)
{
	struct sim_handoffs w = { .seed = seed,
				  .nodes = 1 + (uint32_t)(seed % 3),
				  .ranks = 1 + (uint32_t)(seed / 3 % 4),
				  .threads = 1 + (uint32_t)(seed * 7 % SIM_HANDOFFS_THREADS),
				  .regions = 1 + (uint32_t)(seed % 5),
				  .is_late = seed / 2 % 2 };

	check_run(&w);
}

int main(int argc, char **argv)
{
	uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : SEEDS;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	struct sim_handoffs large = { .nodes = 8, .ranks = 128, .threads = 2, .regions = 2 };

	for (uint64_t i = 0; i < count; i++)
		check_seed(seed + i);
	if (argc == 1)
		check_run(&large);
	check_listeners();
	check_profile();
	for (int kind = 0; kind < CRIT_EDGE_PAIR_COUNT; kind++)
		CHECK_MSG(seen[kind] >= count || !is_there(kind), "only %llu edges of kind %d",
			  (unsigned long long)seen[kind], kind);
	return check_done();
}
