// SPDX-License-Identifier: BSD-3-Clause
//
// Edges of messages and collective operations against the simulator: random runs with requests of
// every kind, several communicators and receives from any source.
//
//   test-message-edges [COUNT [SEED]]
#include "tests/edges/told_edges.h"
#include "tests/lib/check.h"
#include "tests/sim/messages.h"

#define SEEDS 60

/* The results have MPI_COMM_SELF first. */
static uint64_t number_of(uint64_t row)
{
	return row < 2 ? 1 - row : row;
}

/* Receives of a rank have the numbers of the order in which they were posted. */
static void check_posted(const struct sim_edges *told, const struct sim_edges *truth)
{
	for (size_t i = 0; i < told->count && i < truth->count; i++) {
		const struct sim_edge *a = &told->rows[i], *x = &truth->rows[i];
		bool is_before = true;

		for (size_t k = 0; k < i && is_before; k++) {
			const struct sim_edge *b = &told->rows[k], *y = &truth->rows[k];

			if (a->kind != CRIT_EDGE_MESSAGE || b->kind != CRIT_EDGE_MESSAGE ||
			    a->waiter / 100 != b->waiter / 100 ||
			    a->cause / 100 != b->cause / 100 || a->object != b->object)
				continue;
			is_before = (a->posted < b->posted ||
				     (a->posted == b->posted && a->number < b->number)) ==
				    (x->posted < y->posted);
		}
		CHECK_MSG(is_before, "receive %zu has a number it was not posted with", i);
	}
}

static void check_seed(uint64_t seed)
{
	static struct sim_messages w;
	struct crit_results *results;
	struct sim_edges told;

	CHECK_CASE("seed %llu", (unsigned long long)seed);
	sim_messages_make(&w, seed, 0);
	results = crit_told_edges_sends(w.m, &told);
	CHECK_UINT_EQ(crit_told_edges_differences(&told, &w.edges, results, number_of), 0);
	check_posted(&told, &w.edges);
	crit_results_destroy(results);
	sim_edges_fini(&told);
	sim_edges_fini(&w.edges);
	crit_maker_destroy(w.m);
}

int main(int argc, char **argv)
{
	uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : SEEDS;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;

	for (uint64_t i = 0; i < count; i++)
		check_seed(seed + i);
	return check_done();
}
