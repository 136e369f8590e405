/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Level and tau as critd sets them, and the construct that is held back until it lasts longer than
 * tau: its ENTER lies in the ring, unpublished.
 */
#ifndef CRIT_SHIM_GATE_H
#define CRIT_SHIM_GATE_H

#include "core/shim/shim_ring.h"

/* critd changed level or tau, or ended the recording; says so in the ring when there is room. */
CRIT_HIDDEN void crit_gate_follow(struct crit_shim_thread *thread);

static inline bool crit_gate_is_moved(const struct crit_shim_thread *thread)
{
	const struct crit_shm_head *head = crit_process.head;
	const uint32_t tau_ns = *(const volatile uint32_t *)&head->tau_ns;
	const uint64_t gate = (uint64_t)tau_ns << 32 | *(const volatile uint32_t *)&head->level;

	return gate != thread->gate || *(const volatile uint32_t *)&head->is_stopped;
}

/* Holds back the ENTER in the ring; the gate moves, so that the next event looks into it. */
static inline void crit_gate_hold(struct crit_shim_thread *thread, const struct crit_slot *enter)
{
	struct crit_thread_buffer_head *buffer = thread->buffer;

	thread->site = enter->site;
	thread->enter_ns = enter->time_ns;
	thread->is_construct_held = true;
	thread->gate = UINT64_MAX;
	buffer->open_class = CRIT_CLASS_OMP_WAIT;
	buffer->open_first_ns = enter->time_ns;
	buffer->open_last_ns = enter->time_ns;
	buffer->open_site = enter->site;
	buffer->open_call = enter->call;
}

static inline void crit_gate_release(struct crit_shim_thread *thread)
{
	thread->buffer->open_call = 0;
	thread->is_construct_held = false;
	thread->gate = (uint64_t)thread->tau_ns << 32 | thread->level;
}

#endif
