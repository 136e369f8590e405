// SPDX-License-Identifier: BSD-3-Clause
// Follows the level and tau that critd sets while a thread records.
#include "core/shim/shim_gate.h"

#include "core/shim/shim_clock.h"
#include "core/shim/shim_poll.h"

/* The ENTER that is held back goes out, whatever comes of it. */
static void publish_held(struct crit_shim_thread *thread)
{
	if (!thread->is_construct_held)
		return;
	crit_gate_release(thread);
	crit_span_publish(thread, thread->write_pos + 1);
}

void crit_gate_follow(struct crit_shim_thread *thread)
{
	const struct crit_shm_head *head = crit_process.head;
	uint32_t level = __atomic_load_n(&head->level, __ATOMIC_RELAXED);
	uint32_t tau_ns = __atomic_load_n(&head->tau_ns, __ATOMIC_RELAXED);

	publish_held(thread);
	if (__atomic_load_n(&head->is_stopped, __ATOMIC_RELAXED)) {
		thread->level = CRIT_LEVEL_NONE;
		thread->gate = UINT64_MAX; /* no level: whatever comes next is news */
		return;
	}
	crit_poll_flush(thread);
	if (level == thread->level && tau_ns == thread->tau_ns) {
		thread->gate = (uint64_t)tau_ns << 32 | level; /* a construct was held */
		return;
	}
	if (!crit_span_has_room(thread, 1))
		return; /* the next event tries again */
	*crit_span_slot_at(thread, thread->write_pos) = (struct crit_slot){
		.time_ns = crit_clock_now_ns(&thread->clock),
		.kind = CRIT_S_LEVEL,
		.slots = 1,
		.call = (__u16)level,
		.site = crit_process.omitted,
		.arg = tau_ns,
	};
	crit_span_publish(thread, thread->write_pos + 1);
	thread->level = level;
	thread->tau_ns = tau_ns;
	thread->gate = (uint64_t)tau_ns << 32 | level;
}
