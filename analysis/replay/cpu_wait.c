// SPDX-License-Identifier: BSD-3-Clause
// Whether a change of a thread's kernel state makes it wait for a CPU.
#include "analysis/replay/cpu_wait.h"

#include "analysis/account/engine_queues.h"

/* The kernel half watches no CPU for a thread whose tag says that it waits in MPI or OpenMP. */
static bool is_waiting(uint64_t tag)
{
	unsigned int span_class = CRIT_TAG_FIELD(tag, CLASS);

	return span_class == CRIT_CLASS_MPI_WAIT || span_class == CRIT_CLASS_MPI_POLL ||
	       span_class == CRIT_CLASS_OMP_WAIT;
}

void crit_cpu_wait_apply(struct crit_engine *engine, const struct crit_transition *change,
			 const union crit_kernel_record *record)
{
	const struct crit_kernel_head *head = &record->head;
	bool is_preempted = change->flags & CRIT_T_SWITCHED_OUT;
	bool is_woken = head->kind == CRIT_K_WAKE || head->kind == CRIT_K_WAKE_NEW;
	bool is_watched = head->flags & CRIT_KF_WATCHED;

	if (is_preempted ? !is_waiting(record->switched.prev_tag) : is_woken && is_watched)
		crit_queues_join(engine, change->thread,
				 &(struct crit_queue_join){ .time_ns = head->time_ns,
							    .cpu = head->cpu,
							    .is_watched = is_watched,
							    .is_preempted = is_preempted });
}
