// SPDX-License-Identifier: BSD-3-Clause
// Finds which task leaves a CPU and which gets it, by thread number or by name.
#include "analysis/account/occupants.h"

#include <string.h>

static void read_stranger(struct crit_occupant *occupant, uint32_t tid, const char *comm)
{
	occupant->is_told = true;
	occupant->kind = CRIT_PREEMPTOR_HIDDEN;
	if (!comm[0])
		return;
	occupant->kind = tid ? CRIT_PREEMPTOR_STRANGER : CRIT_PREEMPTOR_IDLE;
	occupant->tid = tid;
	memcpy(occupant->name, comm, sizeof(occupant->name) - 1);
}

static void read_member(const struct crit_sched_state *sched_state, struct crit_occupant *occupant,
			uint32_t tid)
{
	occupant->thread = crit_sched_state_find(sched_state, tid);
	occupant->is_told = occupant->thread != CRIT_NONE;
	occupant->kind = CRIT_PREEMPTOR_MEMBER;
}

static void read_switch(const struct crit_sched_state *sched_state,
			const struct crit_kernel_preempted *taken, struct crit_stay *stay)
{
	const struct crit_kernel_head *head = &taken->switched.head;
	bool is_named = head->size >= sizeof(*taken);
	bool has_prev = head->flags & CRIT_KF_PREV_MEMBER && taken->switched.prev_tid;
	bool has_next = head->flags & CRIT_KF_NEXT_MEMBER && taken->switched.next_tid;

	if (has_prev)
		read_member(sched_state, &stay->left, taken->switched.prev_tid);
	else if (is_named)
		read_stranger(&stay->left, taken->taker_tid, taken->taker_comm);
	if (has_next)
		read_member(sched_state, &stay->came, taken->switched.next_tid);
	else if (is_named)
		read_stranger(&stay->came, taken->taker_tid, taken->taker_comm);
}

bool crit_occupants_read(const struct crit_sched_state *sched_state,
			 const union crit_kernel_record *record, struct crit_stay *ret_stay)
{
	const struct crit_kernel_outside *outside = &record->outside;

	*ret_stay = (struct crit_stay){ .node = sched_state->node,
					.cpu = record->head.cpu,
					.time_ns = record->head.time_ns,
					.has_gap = record->head.flags & CRIT_KF_LEFT_OUT,
					.left = { .thread = CRIT_NONE },
					.came = { .thread = CRIT_NONE } };
	if (record->head.kind == CRIT_K_SWITCH) {
		read_switch(sched_state, &record->taken, ret_stay);
		return true;
	}
	if (record->head.kind != CRIT_K_OUTSIDE)
		return false;
	read_stranger(&ret_stay->left, outside->prev_tid, outside->prev_comm);
	read_stranger(&ret_stay->came, outside->next_tid, outside->next_comm);
	return true;
}
