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
	bool has_left = change->flags & CRIT_T_SWITCHED_OUT;
	bool is_preempted = has_left && (!head->state || head->flags & CRIT_KF_PREEMPTED);
	bool is_watched = head->flags & CRIT_KF_WATCHED;
	bool is_moved = head->kind == CRIT_K_MIGRATE &&
			engine->accounts[change->thread].queued.is_waiting;

	if (has_left ? !is_waiting(record->switched.prev_tag)
		     : is_moved || (crit_kernel_is_wake(head->kind) && is_watched))
		crit_queues_join(engine, change->thread,
				 &(struct crit_queue_join){ .time_ns = head->time_ns,
							    .cpu = head->cpu,
							    .is_watched = is_watched,
							    .is_preempted = is_preempted });
}
