// SPDX-License-Identifier: BSD-3-Clause
//
// Random teams: the analysis must find what was counted as it happened, and notice a lost slot.
//
//   test-team-property [FIRST_SEED [COUNT]]   repeats or widens the search
#include "analysis/schema/trace.h"
#include "core/base/call.h"
#include "tests/lib/analysed.h"
#include "tests/lib/check.h"
#include "tests/sim/teams.h"

#define EXACT 1e-9

static int on_enter(void *user, uint32_t thread, uint64_t time_ns,
		    const struct crit_trace_span *span, uint64_t total_cmetric_ns)
{
	struct sim_teams *w = user;

	(void)time_ns;
	(void)total_cmetric_ns;
	w->threads[thread].heard_depth++;
	w->threads[thread].spans--;
	if (span->call == CRIT_CONSTRUCT_PARALLEL)
		CHECK(w->instances[CRIT_INSTANCE_NUMBER(span->arg)].has[thread]);
	return 0;
}

static int on_leave(void *user, uint32_t thread, uint64_t time_ns,
		    const struct crit_trace_span *span, const struct crit_trace_sums *sums)
{
	struct sim_teams *w = user;

	(void)time_ns;
	(void)span;
	CHECK(sums != NULL);
	CHECK(w->threads[thread].heard_depth-- > 0);
	return 0;
}

static void check_threads(struct sim_teams *w, const struct crit_results *r)
{
	CHECK_UINT_EQ(r->window_ns, w->now_ns - TEAM_BEGIN);
	CHECK_INT_EQ(crit_analysed_losses(&r->losses), 0);
	if (!CHECK_UINT_EQ(r->thread_count, TEAM_THREADS))
		return;
	for (uint32_t i = 0; i < TEAM_THREADS; i++) {
		const struct crit_thread_row *row = &r->threads[i];

		for (int class = CRIT_CLASS_USER; class < CRIT_CLASS_COUNT; class ++)
			CHECK_UINT_EQ(row->cells.ns[CRIT_STATE_ASSUMED][class],
				      w->threads[i].cells[class]);
		CHECK_NEAR((double)row->run.cmetric[CRIT_UNIT_THREADS] * 0x1p-64,
			   w->threads[i].cmetric, EXACT * (double)w->now_ns);
		CHECK_UINT_EQ(w->threads[i].spans, 0);
		CHECK_UINT_EQ(w->threads[i].heard_depth, 0);
	}
	CHECK_UINT_EQ(r->ranks[0].idle_in_mpi_ns, w->in_mpi_ns);
}

static void check_part(const struct team_part *truth, const struct crit_region_part *part,
		       uint64_t now_ns)
{
	CHECK_UINT_EQ(part->time_ns, truth->time_ns);
	CHECK_UINT_EQ(part->useful_ns, truth->useful_ns);
	CHECK_UINT_EQ(part->omp_wait_ns, truth->omp_wait_ns);
	CHECK_UINT_EQ(part->mpi_ns, truth->mpi_ns);
	CHECK_UINT_EQ(part->visits, truth->visits);
	CHECK_NEAR((double)part->run.cmetric[CRIT_UNIT_THREADS] * 0x1p-64, truth->cmetric,
		   EXACT * (double)now_ns);
}

static void check_region(const struct sim_teams *w, const struct crit_results *r, size_t index)
{
	const struct crit_region_row *row = &r->regions.rows[index];
	const struct team_region *truth = &w->regions[row->number];
	uint64_t rest_ns = 0;

	CHECK_UINT_EQ(row->pid, TEAM_PID);
	CHECK_UINT_EQ(row->call, truth->call);
	CHECK_UINT_EQ(row->site, truth->site);
	CHECK_UINT_EQ(row->visits, truth->visits);
	CHECK_UINT_EQ(row->elapsed_ns, truth->elapsed_ns);
	CHECK_UINT_EQ(row->team_max, truth->team_max);
	CHECK_UINT_EQ(row->scheduling_ns, truth->scheduling_ns);
	CHECK_UINT_EQ(row->imbalance_ns, truth->imbalance_ns);
	if (truth->is_defined)
		CHECK_UINT_EQ(row->parent < 0 ? 0 : r->regions.rows[row->parent].number,
			      truth->parent);
	if (truth->is_defined && truth->call == CRIT_CONSTRUCT_PHASE)
		CHECK_STR_EQ(row->name, "a phase with a name that needs two slots");
	for (uint32_t i = 0; i < TEAM_THREADS; i++)
		rest_ns += truth->parts[i].time_ns;
	for (uint32_t i = 0; i < row->part_count; i++) {
		const struct crit_region_part *part = &r->regions.parts[row->first_part + i];

		CHECK_UINT_EQ(part->region, index);
		check_part(&truth->parts[part->thread], part, w->now_ns);
		rest_ns -= part->time_ns;
	}
	CHECK_UINT_EQ(rest_ns, 0);
}

static void check_seed(uint64_t seed)
{
	static struct sim_teams w;
	struct crit_trace_sink sink = { .user = &w, .enter = on_enter, .leave = on_leave };
	struct crit_results *r = NULL;

	CHECK_CASE("seed %llu", (unsigned long long)seed);
	sim_teams_make(&w, seed, NULL);
	if (CHECK_INT_EQ(crit_analysed_traced(&w.m, 1, CRIT_ACTIVE_DEFAULT, &sink, &r), 0)) {
		const char *broken = crit_analysed_failed_check(r);

		CHECK_MSG(!broken, "%s", broken ? broken : "");
		check_threads(&w, r);
		for (size_t i = 0; i < r->regions.row_count; i++)
			check_region(&w, r, i);
	}
	crit_results_destroy(r);
	crit_maker_destroy(w.m);
}

/* The slot with this number among all is lost. */
static bool drop_slot(void *user, uint32_t stream, struct crit_slot *slot)
{
	uint64_t *left = user;

	(void)stream;
	(void)slot;
	return (*left)-- != 0;
}

/* A slot of any kind is lost: no law breaks, the loss is counted, teams idle no more than all. */
static void check_wound(uint64_t seed)
{
	static struct sim_teams w;
	uint64_t left = seed * 7919 % 60;
	struct crit_maker_options options = { .tamper_slot = drop_slot, .user = &left };
	struct crit_results *r = NULL;

	CHECK_CASE("seed %llu", (unsigned long long)seed);
	sim_teams_make(&w, seed, &options);
	if (CHECK_INT_EQ(crit_analysed_makers(&w.m, 1, CRIT_ACTIVE_DEFAULT, &r), 0)) {
		const char *broken = crit_analysed_failed_check(r);
		uint64_t idle_ns = 0, team_ns = 0;
		size_t i;

		CHECK_MSG(!broken, "%s", broken ? broken : "");
		CHECK_MSG(left < 60 || r->losses.shim_spans, "slot %llu was not missed",
			  (unsigned long long)(seed * 7919 % 60));
		for (i = 0; i < r->thread_count; i++)
			idle_ns += r->threads[i].cells.ns[CRIT_STATE_ASSUMED][CRIT_CLASS_OMP_WAIT] +
				   r->threads[i].cells.ns[CRIT_STATE_ASSUMED][CRIT_CLASS_OMP_IDLE];
		for (i = 0; i < r->regions.row_count; i++)
			team_ns +=
				r->regions.rows[i].scheduling_ns + r->regions.rows[i].imbalance_ns;
		CHECK(team_ns <= idle_ns);
	}
	crit_results_destroy(r);
	crit_maker_destroy(w.m);
}

int main(int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 0) : argc > 1 ? 1 : 300;

	for (uint64_t seed = first; seed < first + count; seed++) {
		check_seed(seed);
		check_wound(seed);
	}
	return check_done();
}
