// SPDX-License-Identifier: BSD-3-Clause
//
// Clocks that were compared badly: moved until no message is received before it was sent, within
// what the comparisons allow, and not at all where that is not to be had.
//
//   test-clock-shifts [FIRST-SEED [COUNT]]
#include <stdlib.h>

#include "analysis/clock_shifts.h"
#include "core/err.h"
#include "tests/lib/analysed.h"
#include "tests/lib/check.h"
#include "tests/unit/skewed_world.h"

static struct skewed_world world;
static uint32_t moved_count; /* nodes, in all seeds */

static struct crit_results *analyse(void)
{
	struct crit_maker *makers[SKEWED_NODES];
	struct crit_results *r = NULL;

	for (uint32_t i = 0; i < world.node_count; i++)
		makers[i] = world.nodes[i].m;
	if (!CHECK_INT_EQ(crit_analysed_makers(makers, world.node_count, CRIT_ACTIVE_DEFAULT, &r),
			  0) ||
	    !r)
		exit(1);
	CHECK_STR_EQ(crit_analysed_broken_law(r), NULL);
	for (uint32_t i = 0; i < world.node_count; i++)
		crit_maker_destroy(makers[i]);
	return r;
}

static void live(uint64_t seed, struct skewed_world flags, const char *what)
{
	CHECK_CASE("seed %llu, %s", (unsigned long long)seed, what);
	world = flags;
	skewed_world_live(&world, seed);
}

/* What the offset is by the clocks and what it is in truth, at both ends of the window. */
static void check_truth(const struct crit_results *r, uint32_t number)
{
	const struct skewed_node *node = &world.nodes[number];
	const struct crit_node_row *row = &r->nodes[number];
	const struct crit_rank_row *rank = &r->ranks[number];
	const double bound_ns = (double)row->clock_bound_ns + 2;
	uint64_t most_ns = node->bound_ns[0];

	if (!world.is_once && node->bound_ns[1] > most_ns)
		most_ns = node->bound_ns[1];
	CHECK_NEAR((double)(int64_t)(rank->open_ns - SKEWED_T0), 0, bound_ns);
	CHECK_NEAR((double)(int64_t)(rank->close_ns - SKEWED_T0 - SKEWED_LENGTH), 0, bound_ns);
	CHECK(row->clock_bound_ns >= most_ns && row->clock_bound_ns <= 2 * most_ns);
	CHECK((uint64_t)llabs(row->clock_shift_ns) <= most_ns);
	CHECK_NEAR((double)row->clock_drift_ppb, 0, 200e3);
	moved_count += row->clock_shift_ns != 0;
}

static void check_moved(uint64_t seed)
{
	const struct skewed_world flags = { .is_once = seed % 4 == 0 };
	struct crit_results *r;

	live(seed, flags, flags.is_once ? "compared once" : "compared");
	r = analyse();
	CHECK_UINT_EQ(r->messages.losses.early, 0);
	CHECK(r->messages.has_order);
	CHECK_INT_EQ(r->nodes[0].clock_shift_ns, 0);
	for (uint32_t i = 0; i < world.node_count; i++)
		check_truth(r, i);
	crit_results_destroy(r);
}

/* Bounds that are wrong leave the clocks where they are, and the report says by how much. */
static void check_refused(uint64_t seed)
{
	struct crit_results *r;

	live(seed, (struct skewed_world){ .is_wrong = true }, "bounds of 10 ns");
	r = analyse();
	CHECK(r->messages.losses.early > 0 && r->messages.losses.early_max_ns > 10);
	for (uint32_t i = 0; i < world.node_count; i++) {
		CHECK_INT_EQ(r->nodes[i].clock_shift_ns, 0);
		CHECK_UINT_EQ(r->nodes[i].clock_bound_ns, i ? 10 : 0);
	}
	crit_results_destroy(r);
}

/* Where a send is missing the next one takes its place, which proves nothing. */
static void check_lossy(uint64_t seed)
{
	struct crit_results *r;

	live(seed, (struct skewed_world){ .is_lossy = true }, "a send is lost");
	r = analyse();
	CHECK(!r->messages.has_order);
	for (uint32_t i = 0; i < world.node_count; i++)
		CHECK_INT_EQ(r->nodes[i].clock_shift_ns, 0);
	crit_results_destroy(r);
}

int main(int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 0) : argc > 1 ? 1 : 200;

	for (uint64_t seed = first; seed < first + count; seed++)
		check_moved(seed);
	CHECK(moved_count >= count);
	for (uint64_t seed = 1; seed <= 10; seed++) {
		check_refused(seed);
		check_lossy(seed);
	}
	return check_done();
}
