// SPDX-License-Identifier: BSD-3-Clause
// Finds which task leaves a CPU and which gets it, by thread number or by name.
#include "analysis/account/occupants.h"

#include <string.h>

static void tell_nobody(struct crit_occupant *occupant)
{
	*occupant = (struct crit_occupant){ .thread = CRIT_NONE };
}

static void tell_stranger(struct crit_occupant *occupant, uint32_t tid, const char *comm)
{
	tell_nobody(occupant);
	occupant->is_told = true;
	occupant->kind = CRIT_PREEMPTOR_HIDDEN;
	if (!comm[0])
		return;
	occupant->kind = tid ? CRIT_PREEMPTOR_STRANGER : CRIT_PREEMPTOR_IDLE;
	occupant->tid = tid;
	memcpy(occupant->name, comm, sizeof(occupant->name) - 1);
}

/* Leaves the name as it is: members have none. */
static inline void tell_member(struct crit_occupant *occupant, uint32_t thread)
{
	occupant->kind = CRIT_PREEMPTOR_MEMBER;
	occupant->is_told = thread != CRIT_NONE;
	occupant->thread = thread;
	occupant->tid = 0;
}

static void tell_taker(struct crit_occupant *occupant, const struct crit_kernel_preempted *taken)
{
	if (taken->switched.head.size >= sizeof(*taken))
		tell_stranger(occupant, taken->taker_tid, taken->taker_comm);
	else
		tell_nobody(occupant);
}

static void read_left(const struct crit_sched_state *sched_state,
		      const union crit_kernel_record *record, struct crit_occupant *ret_left)
{
	const struct crit_kernel_switch *switched = &record->switched;

	if (record->head.kind == CRIT_K_OUTSIDE)
		tell_stranger(ret_left, record->outside.prev_tid, record->outside.prev_comm);
	else if (record->head.flags & CRIT_KF_PREV_MEMBER && switched->prev_tid)
		tell_member(ret_left, crit_sched_state_find_on(sched_state, record->head.cpu,
							       switched->prev_tid));
	else
		tell_taker(ret_left, &record->taken);
}

static void read_came(const struct crit_sched_state *sched_state,
		      const union crit_kernel_record *record, struct crit_occupant *ret_came)
{
	const struct crit_kernel_switch *switched = &record->switched;

	if (record->head.kind == CRIT_K_OUTSIDE)
		tell_stranger(ret_came, record->outside.next_tid, record->outside.next_comm);
	else if (record->head.flags & CRIT_KF_NEXT_MEMBER && switched->next_tid)
		tell_member(ret_came, crit_sched_state_find_on(sched_state, record->head.cpu,
							       switched->next_tid));
	else
		tell_taker(ret_came, &record->taken);
}

void crit_occupants_take(struct crit_engine *engine, const struct crit_sched_state *sched_state,
			 const union crit_kernel_record *record)
{
	struct crit_cpu_queue *queue = crit_queues_at(engine, sched_state->node, record->head.cpu);

	if (!queue)
		return;
	if (queue->first != CRIT_NONE) {
		struct crit_stay stay = { .time_ns = record->head.time_ns,
					  .has_gap = record->head.flags & CRIT_KF_LEFT_OUT };

		read_left(sched_state, record, &stay.left);
		crit_queues_charge(engine, queue, &stay);
	}
	read_came(sched_state, record, &queue->occupant);
}
