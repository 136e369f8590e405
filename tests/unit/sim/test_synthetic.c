// SPDX-License-Identifier: BSD-3-Clause
// The analysis of synthetic recordings against their closed form.
#include <unistd.h>

#include "core/base/call.h"
#include "tests/lib/analysed.h"
#include "tests/lib/check.h"
#include "tests/sim/synthetic.h"

static void check_rank(const struct crit_synthetic *spec, const struct crit_rank_row *row,
		       uint32_t rank)
{
	double cmetric_s = crit_synthetic_cmetric_ns(spec, rank) * 1e-9;
	double stall_s = crit_synthetic_all_waiting_ns(spec) * 1e-9;

	CHECK_UINT_EQ(row->rank, rank);
	CHECK_UINT_EQ(row->app_threads, spec->threads);
	for (int unit = 0; unit < CRIT_UNIT_COUNT; unit++) {
		CHECK_REL(crit_fix_seconds(row->run.cmetric[unit]), cmetric_s, 1e-9, 0);
		CHECK_REL(crit_fix_seconds(row->run.all_waiting[unit]), stall_s, 1e-9, 0);
	}
}

static void check_results(const struct crit_synthetic *spec, const struct crit_results *r)
{
	uint64_t events = 0;

	CHECK_UINT_EQ(r->window_ns, spec->period_ns * spec->periods);
	CHECK_UINT_EQ(crit_analysed_losses(&r->losses), r->losses.tag_stale);
	if (!CHECK_UINT_EQ(r->rank_count, spec->nodes * spec->ranks))
		return;
	CHECK_UINT_EQ(r->call_site_count,
		      (uint64_t)r->rank_count *
			      ((spec->sites ? spec->sites : 1) + (spec->phases > 0)));
	for (uint32_t rank = 0; rank < r->rank_count; rank++)
		check_rank(spec, &r->ranks[rank], rank);
	for (size_t i = 0; i < r->node_count; i++)
		events += r->nodes[i].kernel_record_count + r->nodes[i].slot_count;
	CHECK(events >= crit_synthetic_events(spec));
}

static void check_messages(const struct crit_synthetic *spec, const struct crit_results *r)
{
	const struct crit_message_results *m = &r->messages;
	uint32_t ranks = spec->nodes * spec->ranks;
	uint64_t spread_ns = spec->period_ns * ranks / (ranks + 1) - spec->period_ns / (ranks + 1);

	CHECK(m->is_whole);
	CHECK_UINT_EQ(m->losses.unfinished, 0);
	CHECK_UINT_EQ(m->pair_count, (uint64_t)ranks * spec->peers);
	for (size_t i = 0; i < m->pair_count; i++) {
		uint32_t distance = (m->pairs[i].to_row + ranks - m->pairs[i].from_row) % ranks;

		CHECK(distance > 0 && distance <= spec->peers);
		CHECK_UINT_EQ(m->pairs[i].sent_count, spec->periods - 1);
		CHECK_UINT_EQ(m->pairs[i].received_bytes, 100 * (spec->periods - 1));
	}
	if (!CHECK_UINT_EQ(m->collective_count, 1))
		return;
	CHECK_UINT_EQ(m->collectives[0].instances, spec->periods);
	CHECK_UINT_EQ(m->collectives[0].spread_sum_ns, spread_ns * spec->periods);
	CHECK_UINT_EQ(m->collectives[0].last_count, 1);
	CHECK_UINT_EQ(m->lasts[0].rank_row, ranks - 1);
}

/* Every period is a phase of each process, from its begin to the end of its barrier. */
static void check_phases(const struct crit_synthetic *spec, const struct crit_results *r)
{
	const struct crit_region_results *regions = &r->regions;

	if (!CHECK_UINT_EQ(regions->row_count, spec->nodes * spec->ranks * spec->phases))
		return;
	for (size_t i = 0; i < regions->row_count; i++) {
		const struct crit_region_row *row = &regions->rows[i];
		const uint64_t visits = spec->periods / spec->phases +
					(row->number <= spec->periods % spec->phases);

		CHECK_UINT_EQ(row->call, CRIT_CONSTRUCT_PHASE);
		CHECK_UINT_EQ(row->visits, visits * spec->threads);
		CHECK_UINT_EQ(row->elapsed_ns, visits * spec->threads * spec->period_ns);
		CHECK_UINT_EQ(row->part_count, spec->threads);
	}
}

static void check_spec(struct crit_synthetic spec)
{
	struct crit_maker *makers[CRIT_SCENARIO_NODES];
	struct crit_results *r = NULL;

	CHECK_CASE("%u nodes, %u ranks, %u threads, period %llu ns, %s", spec.nodes, spec.ranks,
		   spec.threads, (unsigned long long)spec.period_ns,
		   spec.is_spinning ? "spinning" : "blocking");
	for (uint32_t node = 0; node < spec.nodes; node++) {
		makers[node] = crit_maker_create(NULL);
		crit_synthetic_write(&spec, node, makers[node]);
	}
	if (CHECK_INT_EQ(crit_analysed_makers(makers, spec.nodes, CRIT_ACTIVE_DEFAULT, &r), 0) &&
	    r) {
		check_results(&spec, r);
		if (spec.peers)
			check_messages(&spec, r);
		if (spec.phases)
			check_phases(&spec, r);
	}
	crit_results_destroy(r);
	for (uint32_t node = 0; node < spec.nodes; node++)
		crit_maker_destroy(makers[node]);
}

int main(void)
{
	check_spec((struct crit_synthetic){ 1, 1, 1, 100000, 100, false, 0, 0, 0, 0 });
	check_spec((struct crit_synthetic){ 1, 4, 1, 1000000, 50, true, 0, 0, 0, 0 });
	check_spec((struct crit_synthetic){ 1, 4, 3, 999983, 50, false, 0, 0, 0, 0 });
	check_spec((struct crit_synthetic){ 3, 5, 2, 500009, 500, false, 0, 0, 0, 0 });
	check_spec((struct crit_synthetic){ 1, 2, 2, 3000000019ull, 20, false, 0, 0, 0, 0 });
	check_spec((struct crit_synthetic){ 1, 300, 1, 10007, 20, false, 0, 0, 0, 0 });
	check_spec((struct crit_synthetic){ 1, 4, 3, 999983, 50, false, 1, 0, 0, 0 });
	check_spec((struct crit_synthetic){ 3, 5, 1, 500009, 3000, true, 1, 0, 0, 0 });
	check_spec((struct crit_synthetic){ 2, 9, 1, 500009, 40, true, 4, 0, 0, 0 });
	check_spec((struct crit_synthetic){ 1, 6, 1, 500009, 40, true, 5, 7, 0, 0 });
	check_spec((struct crit_synthetic){ 1, 4, 3, 999983, 50, false, 0, 0, 7, 0 });
	return check_done();
}
