// SPDX-License-Identifier: BSD-3-Clause
// Efficiencies: the identities to 1e-12 on random cells, closed forms, and the edges.
#include "analysis/table/efficiency.h"

#include <string.h>

#include "tests/lib/check.h"
#include "tests/unit/report/results_sample.h"

#define EXACT 1e-12

static uint64_t random_state = 88172645463325252ull;

static uint64_t next_random(uint64_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % below;
}

/* One thread's life: cells that sum to the window at most. */
static void fill_randomly(struct crit_cells *cells, uint64_t window_ns, size_t threads)
{
	memset(cells, 0, sizeof(*cells));
	for (size_t t = 0; t < threads; t++) {
		uint64_t left_ns = window_ns;

		for (int i = 0; i < 6; i++) {
			uint64_t part_ns = next_random(left_ns + 1);

			cells->ns[1 + next_random(CRIT_STATE_COUNT - 1)]
				 [next_random(CRIT_CLASS_COUNT)] += part_ns;
			left_ns -= part_ns;
		}
	}
}

static void check_identities(const struct crit_efficiency *eff)
{
	const double factors[] = {
		eff->cpu_parallel,           eff->cpu_omp_parallel,      eff->cpu_omp_scheduling,
		eff->cpu_omp_balance,        eff->cpu_omp_serialization, eff->cpu_balance,
		eff->cpu_balance_in,         eff->cpu_balance_out,       eff->cpu_io,
		eff->cpu_oversubscription,   eff->cpu_communication,     eff->wall_parallel,
		eff->wall_mpi_parallel,      eff->wall_balance,          eff->wall_balance_in,
		eff->wall_balance_out,       eff->wall_communication,    eff->wall_omp_parallel,
		eff->wall_omp_serialization, eff->wall_omp_balance,      eff->wall_omp_scheduling
	};

	for (size_t i = 0; i < sizeof(factors) / sizeof(factors[0]); i++)
		CHECK_MSG(factors[i] >= 0 && factors[i] <= 1, "factor %zu is %g", i, factors[i]);
	CHECK_NEAR(eff->cpu_parallel,
		   eff->cpu_omp_parallel * eff->cpu_balance * eff->cpu_oversubscription *
			   eff->cpu_io * eff->cpu_communication,
		   EXACT);
	CHECK_NEAR(eff->cpu_omp_parallel,
		   eff->cpu_omp_scheduling * eff->cpu_omp_balance * eff->cpu_omp_serialization,
		   EXACT);
	CHECK_NEAR(eff->cpu_balance, eff->cpu_balance_in * eff->cpu_balance_out, EXACT);
	CHECK_NEAR(eff->wall_mpi_parallel, eff->wall_balance * eff->wall_communication, EXACT);
	CHECK_NEAR(eff->wall_balance, eff->wall_balance_in * eff->wall_balance_out, EXACT);
	CHECK_NEAR(eff->wall_omp_parallel,
		   eff->wall_omp_serialization * eff->wall_omp_balance * eff->wall_omp_scheduling,
		   EXACT);
	CHECK(eff->wall_parallel <= eff->wall_omp_parallel + EXACT);
}

/* Of a rank's idle time, some in regions, and some of the rest while it is in MPI. */
static void idle_randomly(struct crit_rank_row *rank, int32_t row, struct crit_region_row *region)
{
	struct crit_usage usage;
	uint64_t left_ns;

	crit_usage_of(&rank->cells, &usage);
	left_ns = usage.omp_wait_ns;
	*region = (struct crit_region_row){ .rank_row = row };
	region->scheduling_ns = next_random(left_ns + 1);
	left_ns -= region->scheduling_ns;
	region->imbalance_ns = next_random(left_ns + 1);
	left_ns -= region->imbalance_ns;
	rank->idle_in_mpi_ns = next_random(left_ns + 1);
	if (usage.mpi_ns < rank->idle_in_mpi_ns)
		rank->idle_in_mpi_ns = usage.mpi_ns;
}

static void test_identities(void)
{
	static struct results_sample sample;
	struct crit_region_row regions[SAMPLE_RANKS_MAX];
	struct crit_efficiency eff;

	for (int round = 0; round < 500; round++) {
		results_sample_barriers(&sample);
		sample.results.regions.rows = regions;
		sample.results.window_ns = 1 + next_random(1000000);
		sample.results.rank_count = 1 + next_random(SAMPLE_RANKS_MAX);
		sample.results.node_count = 2;
		for (size_t i = 0; i < sample.results.rank_count; i++) {
			fill_randomly(&sample.ranks[i].cells, sample.results.window_ns,
				      next_random(4));
			sample.ranks[i].node = (uint32_t)next_random(2);
			idle_randomly(&sample.ranks[i], (int32_t)i, &regions[i]);
		}
		sample.results.regions.row_count = sample.results.rank_count;
		CHECK_CASE("round %d", round);
		crit_efficiency_of(&sample.results, &eff);
		CHECK(eff.is_valid);
		check_identities(&eff);
	}
	CHECK_CASE("%s", "");
}

static void test_barriers(void)
{
	static struct results_sample sample;
	struct crit_efficiency eff;

	results_sample_barriers(&sample); /* U = 1.2 and 0.4 of 1.3 s; MPI = 0.1 and 0.9 */
	crit_efficiency_of(&sample.results, &eff);
	check_identities(&eff);
	CHECK_NEAR(eff.cpu_parallel, 0.8 / 1.3, EXACT);
	CHECK_NEAR(eff.cpu_balance, 0.8 / 1.2, EXACT);
	CHECK_NEAR(eff.cpu_balance_in, 0.8 / 1.2, EXACT);
	CHECK_NEAR(eff.cpu_balance_out, 1, 0);
	CHECK_NEAR(eff.cpu_communication, 1.2 / 1.3, EXACT);
	CHECK_NEAR(eff.wall_parallel, 0.8 / 1.3, EXACT);
	CHECK_NEAR(eff.wall_mpi_parallel, 0.8 / 1.3, EXACT); /* no OpenMP: the same */
	CHECK_NEAR(eff.wall_balance, 0.8 / 1.2, EXACT);
	CHECK(!eff.has_omp);
	CHECK_NEAR(eff.cpu_omp_parallel, 1, 0);
	CHECK_NEAR(eff.wall_omp_parallel, 1, 0);
}

/* What wall-clock tools call useful: a preempted rank looks busy, CPU-time books it as OS. */
static void test_oversubscription(void)
{
	static struct results_sample sample;
	struct crit_efficiency eff;

	results_sample_barriers(&sample);
	for (int i = 0; i < 2; i++) {
		memset(&sample.ranks[i].cells, 0, sizeof(sample.ranks[i].cells));
		sample.ranks[i].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_USER] = 650000000;
		sample.ranks[i].cells.ns[CRIT_STATE_RUNNABLE][CRIT_CLASS_USER] = 650000000;
	}
	crit_efficiency_of(&sample.results, &eff);
	CHECK_NEAR(eff.cpu_oversubscription, 0.5, EXACT);
	CHECK_NEAR(eff.cpu_parallel, 0.5, EXACT);
	CHECK_NEAR(eff.wall_parallel, 1, EXACT);
}

static void test_edges(void)
{
	static struct results_sample sample;
	struct crit_efficiency eff;

	results_sample_barriers(&sample);
	sample.results.rank_count = 0;
	crit_efficiency_of(&sample.results, &eff);
	CHECK(!eff.is_valid);
	results_sample_barriers(&sample);
	sample.results.window_ns = 0;
	crit_efficiency_of(&sample.results, &eff);
	CHECK(!eff.is_valid);
	results_sample_threads(&sample);
	sample.threads[2].role = CRIT_THREAD_SERVICE; /* does not count */
	crit_efficiency_of(&sample.results, &eff);
	CHECK(eff.is_valid);
	check_identities(&eff);
	CHECK_NEAR(eff.cpu_parallel, 0.5, EXACT);
	CHECK_NEAR(eff.cpu_io, 0.5, EXACT);
	CHECK_NEAR(eff.cpu_balance, 1, EXACT);

	/* a main thread that only waits is none of those that share the work, as in lost time */
	memset(&sample.threads[0].cells, 0, sizeof(sample.threads[0].cells));
	sample.threads[0].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_NONE] = 40000000;
	sample.threads[0].cells.ns[CRIT_STATE_BLOCKED][CRIT_CLASS_NONE] = 1960000000;
	crit_efficiency_of(&sample.results, &eff);
	check_identities(&eff);
	CHECK_NEAR(eff.cpu_parallel, 0.5, EXACT);
	CHECK_NEAR(eff.cpu_balance, 1, EXACT);
	sample.threads[0].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_NONE] = 60000000;
	sample.threads[0].cells.ns[CRIT_STATE_BLOCKED][CRIT_CLASS_NONE] = 1940000000;
	crit_efficiency_of(&sample.results, &eff);
	CHECK_NEAR(eff.cpu_parallel, 0.265, EXACT);
	CHECK_NEAR(eff.cpu_balance, 0.53, EXACT);
}

int main(void)
{
	test_identities();
	test_barriers();
	test_oversubscription();
	test_edges();
	return check_done();
}
