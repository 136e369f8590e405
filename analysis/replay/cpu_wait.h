/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that wait for a CPU, as the replay finds them. */
#ifndef CRIT_CPU_WAIT_H
#define CRIT_CPU_WAIT_H

#include "analysis/account/engine.h"
#include "analysis/model/sched_state.h"

/*
 * A thread that was preempted, or woken to a watched CPU, waits for it.  Range: it is runnable from
 * that record on.
 */
void crit_cpu_wait_apply(struct crit_engine *engine, const struct crit_transition *change,
			 const union crit_kernel_record *record);

#endif
