/* SPDX-License-Identifier: BSD-3-Clause */
/* Who left a CPU and who got it, as a kernel record tells. */
#ifndef CRIT_OCCUPANTS_H
#define CRIT_OCCUPANTS_H

#include "analysis/account/engine_queues.h"
#include "analysis/model/sched_state.h"

/* Reads a record the machine has just stepped over.  Returns false when it is no switch. */
bool crit_occupants_read(const struct crit_sched_state *sched_state,
			 const union crit_kernel_record *record, struct crit_stay *ret_stay);

#endif
