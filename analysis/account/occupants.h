/* SPDX-License-Identifier: BSD-3-Clause */
/* Which task left a CPU and which got it, from a kernel record. */
#ifndef CRIT_OCCUPANTS_H
#define CRIT_OCCUPANTS_H

#include "analysis/account/engine_queues.h"
#include "analysis/model/sched_state.h"

/* Reads a record the scheduler state has just stepped over.  Returns false when it is no switch. */
bool crit_occupants_read(const struct crit_sched_state *sched_state,
			 const union crit_kernel_record *record, struct crit_stay *ret_stay);

#endif
