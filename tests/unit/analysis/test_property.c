// SPDX-License-Identifier: BSD-3-Clause
//
// The analysis against the oracle, on random runs: every figure within 1e-9, every law, every cell.
//
//   test-property [FIRST_SEED [COUNT]]   repeats or widens the search; a failure prints its seed
#include <errno.h>

#include "core/base/call.h"
#include "tests/lib/analysed.h"
#include "tests/lib/check.h"

#define BOUND 1e-9
#define FLOOR_NS 1.0 /* sums of less than a nanosecond need not agree more closely */

static double fix_ns(crit_fix value)
{
	return (double)(uint64_t)(value >> 64) + (double)(uint64_t)value * 0x1p-64;
}

#define CHECK_FIX(got, exact) CHECK_REL(fix_ns(got), crit_exact_ns(exact), BOUND, FLOOR_NS)

static void compare_attribution(const struct crit_attribution *got,
				const struct crit_truth_attribution *want)
{
	for (int unit = 0; unit < CRIT_UNIT_COUNT; unit++) {
		CHECK_FIX(got->cmetric[unit], want->cmetric[CRIT_SCOPE_RUN][unit]);
		CHECK_FIX(got->all_waiting[unit], want->all_waiting[CRIT_SCOPE_RUN][unit]);
	}
	CHECK_FIX(got->blame, want->blame);
	CHECK_UINT_EQ(got->waiting_ns, want->waiting_ns);
}

/* A thread without a shim counts as user, so the two are one here. */
static uint64_t cell(const struct crit_cells *cells, int state, int class)
{
	if (class == CRIT_CLASS_NONE)
		return 0;
	return cells->ns[state][class] +
	       (class == CRIT_CLASS_USER ? cells->ns[state][CRIT_CLASS_NONE] : 0);
}

static void compare_cells(const struct crit_cells *got, const struct crit_cells *want)
{
	for (int state = 0; state < CRIT_STATE_COUNT; state++)
		for (int class = 0; class < CRIT_CLASS_COUNT; class ++)
			CHECK_MSG(cell(got, state, class) == cell(want, state, class),
				  "state %d, %s: %llu, not %llu", state,
				  crit_class_name((enum crit_span_class) class),
				  (unsigned long long)cell(got, state, class),
				  (unsigned long long)cell(want, state, class));
}

static const struct crit_thread_row *find_thread(const struct crit_results *r, uint32_t node,
						 uint32_t tid)
{
	for (size_t i = 0; i < r->thread_count; i++)
		if (r->threads[i].node == node && r->threads[i].tid == tid)
			return &r->threads[i];
	return NULL;
}

/* How many switches to a thread, or to all, the kernel did not tell of. */
static uint64_t hidden_switches(const struct crit_scenario *s, uint32_t thread)
{
	uint64_t count = 0;

	for (size_t i = 0; i < s->event_count; i++)
		count += s->events[i].ran_ns &&
			 (thread == CRIT_SCENARIO_NONE || s->events[i].thread == thread);
	return count;
}

static void compare_threads(const struct crit_scenario *s, const struct crit_truth *truth,
			    const struct crit_results *r)
{
	size_t alive = 0;
	char before[sizeof(check_context)];

	memcpy(before, check_context, sizeof(before));
	for (size_t i = 0; i < s->thread_count; i++) {
		const struct crit_scenario_thread *t = &s->threads[i];
		const struct crit_scenario_process *p = &s->processes[t->process];
		const struct crit_truth_row *want = &truth->threads[i];
		const struct crit_thread_row *got =
			find_thread(r, p->node, s->has_kernel[p->node] ? t->tid : t->ns_tid);

		CHECK_CASE("%.100s thread %u", before, t->tid);
		if (t->death_ns == t->birth_ns)
			continue;
		alive++;
		if (!CHECK(got))
			continue;
		CHECK_INT_EQ(got->role, t->role);
		CHECK_UINT_EQ(got->birth_ns, t->birth_ns);
		CHECK_UINT_EQ(got->death_ns, t->death_ns);
		CHECK_UINT_EQ(got->life_ns, t->death_ns - t->birth_ns);
		CHECK_UINT_EQ(got->life_ns, crit_analysed_cells_ns(&got->cells));
		CHECK_UINT_EQ(got->unmatched, hidden_switches(s, (uint32_t)i));
		compare_cells(&got->cells, &want->cells);
		compare_attribution(&got->run, &want->attributed);
		for (int unit = 0; unit < CRIT_UNIT_COUNT; unit++) {
			CHECK_FIX(got->node_cmetric[unit],
				  want->attributed.cmetric[CRIT_SCOPE_NODE][unit]);
			CHECK_FIX(got->node_all_waiting[unit],
				  want->attributed.all_waiting[CRIT_SCOPE_NODE][unit]);
		}
	}
	memcpy(check_context, before, sizeof(before));
	CHECK_UINT_EQ(r->thread_count, alive);
}

/* may_wait: the truth by the rule that mpi_may_wait is active, NULL where nobody asks for it. */
static void compare_ranks(const struct crit_scenario *s, const struct crit_truth *truth,
			  const struct crit_truth *may_wait, const struct crit_results *r)
{
	size_t opened = 0;

	for (size_t i = 0; i < s->process_count; i++) {
		const struct crit_scenario_process *p = &s->processes[i];
		const struct crit_rank_row *got = NULL;

		if (!p->has_rank || !p->has_open)
			continue;
		opened++;
		for (size_t k = 0; k < r->rank_count; k++)
			if (r->ranks[k].rank == p->rank)
				got = &r->ranks[k];
		if (!CHECK(got))
			continue;
		CHECK_UINT_EQ(got->open_ns, p->open_ns);
		CHECK_UINT_EQ(got->close_ns, p->close_ns);
		CHECK_INT_EQ(got->is_open, !p->has_close);
		compare_cells(&got->cells, &truth->ranks[i].cells);
		compare_attribution(&got->run, &truth->ranks[i].attributed);
		if (may_wait)
			CHECK_FIX(got->may_wait_cmetric,
				  may_wait->ranks[i]
					  .attributed.cmetric[CRIT_SCOPE_RUN][CRIT_UNIT_RANKS]);
		else
			CHECK(!got->may_wait_cmetric);
	}
	CHECK_UINT_EQ(r->rank_count, opened);
	CHECK_INT_EQ(r->has_ranks, s->rank_count > 0);
}

static void compare_calls(const struct crit_truth *truth, const struct crit_results *r)
{
	uint32_t seen = 0;

	for (size_t i = 0; i < r->call_count; i++) {
		const struct crit_call_row *got = &r->calls[i];
		const struct crit_truth_row *want = &truth->calls[got->call];
		uint64_t wait_ns = 0;

		CHECK(i == 0 || r->calls[i - 1].call < got->call);
		if (got->call == CRIT_MPI_Init || got->call == CRIT_MPI_Finalize)
			continue;
		for (int state = 0; state < CRIT_STATE_COUNT; state++)
			wait_ns += want->cells.ns[state][CRIT_CLASS_MPI_WAIT] +
				   want->cells.ns[state][CRIT_CLASS_MPI_MAY_WAIT] +
				   want->cells.ns[state][CRIT_CLASS_MPI_POLL];
		compare_attribution(&got->run, &want->attributed);
		CHECK_UINT_EQ(got->visits, want->visits);
		CHECK_UINT_EQ(got->time_ns, crit_analysed_cells_ns(&want->cells));
		CHECK_MSG(got->wait_ns == wait_ns, "%s: waits %llu, not %llu",
			  crit_call_name(got->call), (unsigned long long)got->wait_ns,
			  (unsigned long long)wait_ns);
		seen += crit_analysed_cells_ns(&want->cells) > 0;
	}
	for (uint32_t call = 1; call < 1024; call++)
		if (call != CRIT_MPI_Init && call != CRIT_MPI_Finalize)
			seen -= crit_analysed_cells_ns(&truth->calls[call].cells) > 0;
	CHECK_INT_EQ(seen, 0);
}

static void compare_checks(const struct crit_scenario *s, const struct crit_truth *truth,
			   const struct crit_results *r)
{
	size_t units = s->rank_count ? CRIT_UNIT_COUNT : 1;

	CHECK_UINT_EQ(r->check_count, units * (1 + s->node_count));
	for (size_t i = 0; i < r->check_count; i++) {
		const struct crit_consistency_check *law = &r->checks[i];
		const struct crit_truth_law *want = law->scope == CRIT_SCOPE_RUN
							    ? &truth->run[law->unit]
							    : &truth->node[law->node][law->unit];
		double sum_ns = fix_ns(law->cmetric_sum) + fix_ns(law->all_waiting_sum) +
				fix_ns(law->nobody);

		CHECK_UINT_EQ(law->active_ns, want->active_ns);
		CHECK_UINT_EQ(law->window_ns, truth->window_ns);
		CHECK_REL(fix_ns(law->nobody), (double)want->nobody_ns, BOUND, FLOOR_NS);
		CHECK_FIX(law->cmetric_sum, want->cmetric);
		CHECK_FIX(law->all_waiting_sum, want->all_waiting);
		CHECK_REL(fix_ns(law->cmetric_sum), (double)law->active_ns, BOUND, FLOOR_NS);
		CHECK_REL(sum_ns, (double)law->window_ns, BOUND, FLOOR_NS);
		CHECK(law->error_ratio <= BOUND);
	}
}

static void compare(const struct crit_scenario *s, enum crit_active_rule rule,
		    const struct crit_results *r)
{
	struct crit_truth *truth = crit_oracle_integrate(s, rule);
	struct crit_truth *may_wait =
		rule == CRIT_ACTIVE_DEFAULT ? crit_oracle_integrate(s, CRIT_ACTIVE_MAY_WAIT) : NULL;
	uint64_t hidden = hidden_switches(s, CRIT_SCENARIO_NONE);

	CHECK_STR_EQ(crit_analysed_failed_check(r), NULL);
	CHECK_UINT_EQ(r->window_ns, truth->window_ns);
	CHECK_UINT_EQ(r->window_begin_ns, truth->window_begin_ns);
	compare_threads(s, truth, r);
	compare_ranks(s, truth, may_wait, r);
	compare_calls(truth, r);
	compare_checks(s, truth, r);
	CHECK_UINT_EQ(r->losses.unknown_ns, 0);
	CHECK_UINT_EQ(r->losses.tag_disagreements, 0);
	CHECK_UINT_EQ(r->losses.unmatched_switches, hidden);
	CHECK_UINT_EQ(crit_analysed_losses(&r->losses), r->losses.tag_stale + hidden);
	free(truth);
	free(may_wait);
}

/* Other chunk sizes, and another order of chunks and records, must not change a single bit. */
static void check_order(const struct crit_scenario *s, enum crit_active_rule rule, uint64_t digest)
{
	static const size_t sizes[] = { 32, 96, 4096, 1 << 20 };

	for (size_t i = 0; i < 4; i++) {
		struct crit_maker_options options = { .chunk_bytes = sizes[i] };
		struct crit_results *r = NULL;

		int rc = crit_analysed_scenario(s, rule, &options, i ? s->seed + i : 0, &r);

		if (!CHECK_INT_EQ(rc, 0) || !r)
			continue;
		CHECK_MSG(crit_analysed_digest(r) == digest, "chunks of %zu differ", sizes[i]);
		crit_results_destroy(r);
	}
}

static void check_seed(uint64_t seed, uint32_t events)
{
	struct crit_scenario_shape shape = crit_scenario_draw(seed, events);
	struct crit_scenario *s = crit_scenario_simulate(&shape);
	enum crit_active_rule rule = (enum crit_active_rule)(seed % CRIT_ACTIVE_COUNT);
	bool is_refused = rule == CRIT_ACTIVE_KERNEL && !s->has_kernel[s->node_count - 1];
	struct crit_results *r = NULL;
	int rc = crit_analysed_scenario(s, rule, NULL, 0, &r);

	CHECK_CASE("seed %llu, rule %d, %u nodes, %u ranks%s%s%s%s", (unsigned long long)seed,
		   (int)rule, s->node_count, s->rank_count, shape.is_shim_only ? ", shim only" : "",
		   shape.is_mixed ? ", mixed" : "", shape.is_cut ? ", cut" : "",
		   shape.hides_switches ? ", hidden" : "");
	if (is_refused) {
		CHECK_INT_EQ(rc, -EINVAL);
	} else if (CHECK_INT_EQ(rc, 0) && r) {
		compare(s, rule, r);
		if (seed % 4 == 0)
			check_order(s, rule, crit_analysed_digest(r));
	}
	crit_results_destroy(r);
	crit_scenario_destroy(s);
	CHECK_CASE("%s", "");
}

int main(int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 0) : argc > 1 ? 1 : 400;

	for (uint64_t seed = first; seed < first + count; seed++)
		check_seed(seed, seed % 10 ? 150 : 1500);
	return check_done();
}
