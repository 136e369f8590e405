// SPDX-License-Identifier: BSD-3-Clause
// Rows of nodes: what their ranks earn is what the nodes earn, to the last bit; how even they are.
#include <stdlib.h>

#include "report/tables/node_sums.h"
#include "tests/lib/analysed.h"
#include "tests/lib/check.h"
#include "tests/unit/report/results_sample.h"

#define MS 1000000ull

static crit_fix rank_sum(const struct crit_results *r, enum crit_unit unit)
{
	crit_fix sum = 0;

	for (size_t i = 0; i < r->rank_count; i++)
		sum += r->ranks[i].run.cmetric[unit];
	return sum;
}

static crit_fix check_sum(const struct crit_results *r, enum crit_unit unit)
{
	for (size_t i = 0; i < r->check_count; i++)
		if (r->checks[i].unit == unit && r->checks[i].scope == CRIT_SCOPE_RUN)
			return r->checks[i].cmetric_sum;
	return 0;
}

/* Threads without a rank earn in unit threads only. */
static void check_law(const struct crit_results *r)
{
	struct crit_node_sum *sums = NULL;
	struct crit_node_sum all = { 0 };

	if (!CHECK_INT_EQ(crit_node_sums_of(r, &sums), 0))
		return;
	for (size_t i = 0; i < r->node_count; i++) {
		all.ranks += sums[i].ranks;
		all.app_threads += sums[i].app_threads;
		crit_attribution_add(&all.run, &sums[i].run);
		CHECK_UINT_EQ(sums[i].useful.count,
			      r->has_ranks ? sums[i].ranks : sums[i].app_threads);
	}
	CHECK_UINT_EQ(all.ranks, r->rank_count);
	CHECK(all.run.cmetric[CRIT_UNIT_THREADS] == check_sum(r, CRIT_UNIT_THREADS));
	if (r->has_ranks) {
		CHECK(all.run.cmetric[CRIT_UNIT_RANKS] == rank_sum(r, CRIT_UNIT_RANKS));
		CHECK(all.run.cmetric[CRIT_UNIT_RANKS] == check_sum(r, CRIT_UNIT_RANKS));
	}
	free(sums);
}

static void test_random_runs(uint64_t first, uint64_t count)
{
	size_t several = 0;

	for (uint64_t seed = first; seed < first + count; seed++) {
		const struct crit_scenario_shape shape = crit_scenario_draw(seed, 400);
		struct crit_scenario *scenario = crit_scenario_simulate(&shape);
		struct crit_results *r = NULL;

		CHECK_CASE("seed %llu", (unsigned long long)seed);
		if (CHECK(scenario) &&
		    CHECK_INT_EQ(crit_analysed_scenario(scenario, CRIT_ACTIVE_DEFAULT, NULL, 0, &r),
				 0)) {
			several += r->node_count > 1 && r->rank_count > 1;
			check_law(r);
		}
		crit_results_destroy(r);
		crit_scenario_destroy(scenario);
	}
	CHECK_INT_GE(several, count / 20);
}

/* Rank 1, 0.4 s of work against 1.2, on a node of its own, and on the same one. */
static void test_two_nodes(void)
{
	static struct results_sample sample;
	struct crit_node_sum *sums = NULL;

	CHECK_CASE("a rank a node");
	results_sample_barriers(&sample);
	sample.results.node_count = 2;
	sample.ranks[1].node = 1;
	sample.threads[1].node = 1;
	check_law(&sample.results);
	if (!CHECK_INT_EQ(crit_node_sums_of(&sample.results, &sums), 0))
		return;
	CHECK(sums[0].run.cmetric[CRIT_UNIT_RANKS] == (crit_fix)(1000 * MS) << 64);
	CHECK(sums[1].run.cmetric[CRIT_UNIT_RANKS] == (crit_fix)(200 * MS) << 64);
	CHECK_UINT_EQ(sums[1].ranks, 1);
	CHECK_NEAR(sums[1].useful.percent, 0, 1e-9);
	CHECK_INT_EQ(sums[1].useful.slowest, 1);
	free(sums);

	CHECK_CASE("two ranks on the second node, none on the first");
	sample.ranks[0].node = 1;
	sample.threads[0].node = 1;
	check_law(&sample.results);
	if (!CHECK_INT_EQ(crit_node_sums_of(&sample.results, &sums), 0))
		return;
	CHECK_UINT_EQ(sums[0].ranks + sums[0].app_threads, 0);
	CHECK_INT_EQ(sums[0].useful.slowest, -1);
	CHECK_NEAR(sums[1].useful.max_s, 1.2, 1e-12);
	CHECK_NEAR(sums[1].useful.percent, 50, 1e-9);
	CHECK_INT_EQ(sums[1].useful.slowest, 0);
	CHECK_UINT_EQ(sums[1].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_USER], 1600 * MS);
	free(sums);
}

/* Without ranks the node's threads are compared; launchers and the like are none of its. */
static void test_threads(void)
{
	static struct results_sample sample;
	struct crit_node_sum *sums = NULL;

	CHECK_CASE("threads only");
	results_sample_threads(&sample);
	check_law(&sample.results);
	sample.threads[2].role = CRIT_THREAD_SERVICE;
	if (!CHECK_INT_EQ(crit_node_sums_of(&sample.results, &sums), 0))
		return;
	CHECK_UINT_EQ(sums[0].app_threads, 2);
	CHECK(sums[0].run.cmetric[CRIT_UNIT_THREADS] == (crit_fix)(1500 * MS) << 64);
	CHECK_UINT_EQ(sums[0].useful.count, 2);
	free(sums);
}

int main(int argc, char **argv)
{
	test_two_nodes();
	test_threads();
	test_random_runs(argc > 1 ? strtoull(argv[1], NULL, 0) : 1,
			 argc > 2 ? strtoull(argv[2], NULL, 0) : 200);
	return check_done();
}
