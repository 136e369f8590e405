/* SPDX-License-Identifier: BSD-3-Clause */
/* Which task left a CPU and which got it, from a kernel record. */
#ifndef CRIT_OCCUPANTS_H
#define CRIT_OCCUPANTS_H

#include "analysis/account/engine_queues.h"
#include "analysis/model/sched_state.h"

/* Is it a record of who left a CPU and who got it? */
static inline bool crit_occupants_are_told(const union crit_kernel_record *record)
{
	return record->head.kind == CRIT_K_SWITCH || record->head.kind == CRIT_K_OUTSIDE;
}

/*
 * A stay on a CPU ends, another begins: takes such a record, which the scheduler state has just
 * stepped over.  Errors: engine->error.  Cost: O(threads that wait for the CPU).
 */
void crit_occupants_take(struct crit_engine *engine, const struct crit_sched_state *sched_state,
			 const union crit_kernel_record *record);

#endif
