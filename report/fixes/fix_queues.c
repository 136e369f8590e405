// SPDX-License-Identifier: BSD-3-Clause
// What part of the time without a CPU goes to whom.
#include "report/fixes/fix_queues.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/cleanup.h"

struct cpu_want { /* time without a CPU, in ns */
	uint64_t all_ns, out_ns; /* out: what is left out */
};

static bool is_left_out(enum crit_preemptor_kind by, enum crit_fix_kind kind)
{
	if (kind == CRIT_FIX_NO_OVERSUBSCRIPTION)
		return by == CRIT_PREEMPTOR_MEMBER;
	if (kind == CRIT_FIX_NO_PREEMPTION)
		return by == CRIT_PREEMPTOR_STRANGER || by == CRIT_PREEMPTOR_HIDDEN;
	return true;
}

static void count(struct cpu_want *queued, const struct crit_preemptor_row *row,
		  enum crit_fix_kind kind)
{
	queued->all_ns += row->lost_ns;
	queued->out_ns += is_left_out(row->kind, kind) ? row->lost_ns : 0;
}

static uint32_t part_of(const struct cpu_want *queued)
{
	return (uint32_t)((double)queued->out_ns / (double)queued->all_ns * CRIT_FIX_QUEUES_ONE +
			  0.5);
}

int crit_fix_queues_leave_out(const struct crit_results *results, enum crit_fix_kind kind,
			      struct crit_factor *factors, uint64_t *ret_ns)
{
	const struct crit_preemptor_row *row = results->preemptors;
	const struct crit_preemptor_row *end = row + results->preemptor_count;
	crit_autofree struct cpu_want *nodes = calloc(results->node_count + 1, sizeof(*nodes));

	*ret_ns = 0;
	if (!nodes)
		return -ENOMEM;
	for (size_t i = 0; i < results->preemptor_count; i++)
		count(&nodes[results->threads[row[i].thread].node], &row[i], kind);
	for (size_t i = 0; i < results->thread_count; i++) {
		const uint32_t left = factors[i].numerator;
		struct cpu_want queued = { 0 };
		uint32_t part = 0;

		for (; row < end && row->thread == i; row++)
			count(&queued, row, kind);
		*ret_ns += queued.out_ns;
		if (!queued.all_ns)
			queued = nodes[results->threads[i].node];
		if (kind == CRIT_FIX_NO_QUEUEING)
			part = CRIT_FIX_QUEUES_ONE;
		else if (queued.all_ns)
			part = part_of(&queued);
		factors[i].numerator -= part < left ? part : left;
	}
	return 0;
}
