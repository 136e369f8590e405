// SPDX-License-Identifier: BSD-3-Clause
//
// Corrections of badly compared clocks: moved until no message is received before it was sent,
// within what the comparisons allow, and not at all where that is not to be had.
//
//   test-clock-shifts [FIRST-SEED [COUNT]]
#include <stdlib.h>

#include "analysis/clock/clock_corrections.h"
#include "analysis/model/model.h"
#include "analysis/clock/latencies.h"
#include "analysis/clock/latency_links.h"
#include "core/base/err.h"
#include "tests/lib/analysed.h"
#include "tests/lib/check.h"
#include "tests/sim/clocks.h"

static struct sim_clocks world;
static uint32_t moved_count; /* nodes, in all seeds */

static struct crit_results *analyse(void)
{
	struct crit_maker *makers[SIM_CLOCKS_NODES];
	struct crit_results *r = NULL;

	for (uint32_t i = 0; i < world.node_count; i++)
		makers[i] = world.nodes[i].m;
	if (!CHECK_INT_EQ(crit_analysed_makers(makers, world.node_count, CRIT_ACTIVE_DEFAULT, &r),
			  0) ||
	    !r)
		exit(1);
	CHECK_STR_EQ(crit_analysed_failed_check(r), NULL);
	for (uint32_t i = 0; i < world.node_count; i++)
		crit_maker_destroy(makers[i]);
	return r;
}

static void live(uint64_t seed, struct sim_clocks flags, const char *what)
{
	CHECK_CASE("seed %llu, %s", (unsigned long long)seed, what);
	world = flags;
	sim_clocks_make(&world, seed);
}

/* What the offset is by the clocks and what it is in truth, at both ends of the window. */
static void check_truth(const struct crit_results *r, uint32_t number)
{
	const struct sim_clock *node = &world.nodes[number];
	const struct crit_node_row *row = &r->nodes[number];
	const struct crit_rank_row *rank = &r->ranks[number];
	const double bound_ns = (double)row->clock_bound_ns + 2;
	uint64_t most_ns = node->bound_ns[0];

	if (!world.is_once && node->bound_ns[1] > most_ns)
		most_ns = node->bound_ns[1];
	CHECK_NEAR((double)(int64_t)(rank->open_ns - SIM_CLOCKS_T0), 0, bound_ns);
	CHECK_NEAR((double)(int64_t)(rank->close_ns - SIM_CLOCKS_T0 - SIM_CLOCKS_LENGTH), 0,
		   bound_ns);
	CHECK(row->clock_bound_ns >= most_ns && row->clock_bound_ns <= 2 * most_ns);
	CHECK((uint64_t)llabs(row->clock_correction_ns) <= most_ns);
	CHECK_NEAR((double)row->clock_drift_ppb, 0, 200e3);
	moved_count += row->clock_correction_ns != 0;
}

static void check_moved(uint64_t seed)
{
	const struct sim_clocks flags = { .is_once = seed % 4 == 0, .is_short = seed % 4 == 2 };
	struct crit_results *r;

	live(seed, flags, flags.is_once ? "once" : flags.is_short ? "early" : "twice");
	r = analyse();
	CHECK_UINT_EQ(r->messages.losses.early, 0);
	CHECK(r->messages.has_order);
	CHECK_INT_EQ(r->nodes[0].clock_correction_ns, 0);
	for (uint32_t i = 0; i < world.node_count && !flags.is_short; i++)
		check_truth(r, i);
	crit_results_destroy(r);
}

/* Bounds that are wrong leave the clocks where they are, and the report says by how much. */
static void check_refused(uint64_t seed)
{
	struct crit_results *r;

	live(seed, (struct sim_clocks){ .is_wrong = true }, "bounds of 10 ns");
	r = analyse();
	CHECK(r->messages.losses.early > 0 && r->messages.losses.early_max_ns > 10);
	for (uint32_t i = 0; i < world.node_count; i++) {
		CHECK_INT_EQ(r->nodes[i].clock_correction_ns, 0);
		CHECK_UINT_EQ(r->nodes[i].clock_bound_ns, i ? 10 : 0);
	}
	crit_results_destroy(r);
}

/* Where a send is missing the next one takes its place, which proves nothing. */
static void check_lossy(uint64_t seed)
{
	struct crit_results *r;

	live(seed, (struct sim_clocks){ .is_lossy = true }, "a send is lost");
	r = analyse();
	CHECK(!r->messages.has_order);
	for (uint32_t i = 0; i < world.node_count; i++)
		CHECK_INT_EQ(r->nodes[i].clock_correction_ns, 0);
	crit_results_destroy(r);
}

/* An indexed run of 1 s. */
static struct crit_model model_of(struct crit_node *nodes, size_t count)
{
	return (struct crit_model){ .nodes = nodes,
				    .node_count = count,
				    .window_begin_ns = SIM_CLOCKS_T0,
				    .window_end_ns = SIM_CLOCKS_T0 + SIM_CLOCKS_LENGTH };
}

/* A node by hand: its kind, its bounds, and that it was compared at both ends of 1 s. */
static void put_node(struct crit_node *node, enum crit_clock_kind kind, uint64_t bound_ns)
{
	*node = (struct crit_node){ .row = { .clock_kind = kind, .clock_bound_ns = bound_ns },
				    .clock = { .at_ns = SIM_CLOCKS_T0,
					       .passed_ns = SIM_CLOCKS_LENGTH,
					       .bound_ns = { bound_ns, bound_ns } } };
}

static void put_message(struct crit_latencies *latencies, uint32_t from, uint32_t to,
			uint64_t at_ns, int64_t took_ns)
{
	uint64_t sent_ns = SIM_CLOCKS_T0 + at_ns;
	uint32_t link;

	CHECK_INT_EQ(crit_latencies_link(latencies, from, to, &link), 0);
	CHECK_INT_EQ(crit_latencies_take(latencies, link, sent_ns, sent_ns + (uint64_t)took_ns), 0);
}

/* Who moves, and that it is by little more than it takes, everywhere by the same. */
static void check_movers(void)
{
	struct crit_node nodes[4];
	struct crit_model model = model_of(nodes, 4);
	struct crit_clock_corrections *corrections = crit_clock_corrections_create();
	struct crit_latencies *latencies = crit_latencies_create();

	CHECK_CASE("four nodes by hand");
	put_node(&nodes[0], CRIT_CLOCK_COMPARED, 5000);
	put_node(&nodes[1], CRIT_CLOCK_REFERENCE, 0);
	put_node(&nodes[2], CRIT_CLOCK_SAME, 5000);
	put_node(&nodes[3], CRIT_CLOCK_WALL, 5000);
	for (uint64_t at_ns = 0; at_ns <= SIM_CLOCKS_LENGTH; at_ns += SIM_CLOCKS_LENGTH / 10) {
		put_message(latencies, 1, 2, at_ns, at_ns == SIM_CLOCKS_LENGTH / 2 ? -1100 : -1000);
		put_message(latencies, 0, 2, at_ns, -700); /* one clock: none can fix that */
		put_message(latencies, 1, 3, at_ns, -9000); /* nor those */
		put_message(latencies, 3, 0, at_ns, -9000);
	}
	CHECK_INT_EQ(crit_clock_corrections_find(corrections, &model, latencies), 0);
	if (CHECK(crit_clock_corrections_are_known(corrections) &&
		  crit_clock_corrections_count(corrections) == 4)) {
		CHECK_NEAR((double)crit_clock_corrections_at(corrections, 0)->by_ns[0], 1150, 50);
		CHECK_NEAR((double)crit_clock_corrections_at(corrections, 0)->by_ns[1], 1150, 50);
		CHECK_INT_EQ(crit_clock_corrections_at(corrections, 1)->by_ns[0], 0);
		CHECK_INT_EQ(crit_clock_corrections_at(corrections, 2)->by_ns[0],
			     crit_clock_corrections_at(corrections, 0)->by_ns[0]);
		CHECK_INT_EQ(crit_clock_corrections_at(corrections, 2)->by_ns[1],
			     crit_clock_corrections_at(corrections, 0)->by_ns[1]);
		CHECK_INT_EQ(crit_clock_corrections_at(corrections, 3)->by_ns[0], 0);
	}
	crit_clock_corrections_destroy(corrections);
	corrections = crit_clock_corrections_create();

	/* where that link says nothing nobody is to move, and there is nothing to do again */
	CHECK_INT_EQ(latencies->links[0].to, 2);
	latencies->links[0].is_mixed = true;
	CHECK_INT_EQ(crit_clock_corrections_find(corrections, &model, latencies), 0);
	CHECK(crit_clock_corrections_are_known(corrections) &&
	      crit_clock_corrections_count(corrections) == 0);
	crit_clock_corrections_destroy(corrections);
	crit_latencies_destroy(latencies);
}

/* A clock gains no more than 2 us in 10 ms, though its bounds would let it. */
static void check_steep(void)
{
	struct crit_node nodes[2];
	struct crit_model model = model_of(nodes, 2);
	struct crit_clock_corrections *corrections = crit_clock_corrections_create();
	struct crit_latencies *latencies = crit_latencies_create();

	CHECK_CASE("steep");
	put_node(&nodes[0], CRIT_CLOCK_REFERENCE, 0);
	put_node(&nodes[1], CRIT_CLOCK_COMPARED, 9000);
	nodes[1].clock.passed_ns = SIM_CLOCKS_LENGTH / 100;
	put_message(latencies, 0, 1, 0, -8000);
	CHECK_INT_EQ(crit_clock_corrections_find(corrections, &model, latencies), 0);
	if (CHECK(crit_clock_corrections_count(corrections) == 2)) {
		CHECK_NEAR((double)crit_clock_corrections_at(corrections, 1)->by_ns[0], 8050, 60);
		CHECK_NEAR((double)(crit_clock_corrections_at(corrections, 1)->by_ns[0] -
				    crit_clock_corrections_at(corrections, 1)->by_ns[1]),
			   2000, 2);
	}
	crit_clock_corrections_destroy(corrections);
	crit_latencies_destroy(latencies);
}

/* Many nodes in a row, each knowing its neighbours only: errors of all add up. */
static void check_chain(uint32_t count)
{
	struct crit_model model = model_of(calloc(count, sizeof(*model.nodes)), count);
	struct crit_random random = { 1 };
	struct crit_clock_corrections *corrections = crit_clock_corrections_create();
	struct crit_latencies *latencies = crit_latencies_create();
	int64_t *errors = calloc(count, sizeof(*errors));

	CHECK_CASE("%u nodes in a row", count);
	for (uint32_t i = 0; i < count; i++) {
		put_node(&model.nodes[i], i ? CRIT_CLOCK_COMPARED : CRIT_CLOCK_REFERENCE,
			 i ? 30000 : 0);
		errors[i] = i ? (int64_t)crit_random_below(&random, 60000) - 30000 : 0;
		if (i) {
			put_message(latencies, i, i - 1, 0, 1000 + errors[i - 1] - errors[i]);
			put_message(latencies, i - 1, i, 0, 1000 + errors[i] - errors[i - 1]);
		}
	}
	CHECK_INT_EQ(crit_clock_corrections_find(corrections, &model, latencies), 0);
	if (CHECK(crit_clock_corrections_count(corrections) == count))
		for (uint32_t i = 1; i < count; i++) {
			int64_t error =
				errors[i] + crit_clock_corrections_at(corrections, i)->by_ns[0];
			int64_t before = errors[i - 1] +
					 crit_clock_corrections_at(corrections, i - 1)->by_ns[0];

			CHECK(llabs(error - before) <= 1000);
			CHECK(llabs(crit_clock_corrections_at(corrections, i)->by_ns[0]) <= 30000);
		}
	crit_clock_corrections_destroy(corrections);
	crit_latencies_destroy(latencies);
	free(errors);
	free(model.nodes);
}

int main(int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 0) : argc > 1 ? 1 : 200;

	for (uint64_t seed = first; seed < first + count; seed++)
		check_moved(seed);
	CHECK(moved_count >= count / 2);
	for (uint64_t seed = 1; seed <= 10; seed++) {
		check_refused(seed);
		check_lossy(seed);
	}
	check_movers();
	check_steep();
	check_chain(1000);
	return check_done();
}
