/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What spans and poll spans have in common, inline for their hot paths.
 *
 * Order in every transition: record, compiler barrier, tag store.  The kernel half reads the tag
 * when the thread leaves its CPU, on that CPU, so a compiler barrier is all it takes.
 */
#ifndef CRIT_SHIM_SPAN_H
#define CRIT_SHIM_SPAN_H

#include "core/shim.h"
#include "core/shim_clock.h"

#define CRIT_LIKELY(condition) __builtin_expect(!!(condition), 1)
#define CRIT_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define CRIT_CALL_OF(what) ((what)&0xffffu)
#define CRIT_CLASS_OF(what) ((what) >> 16)

struct crit_fold {
	uint64_t calls;
	uint64_t time_ns;
};

/* shim_span.c */
CRIT_HIDDEN void crit_span_fold(struct crit_thread *thread, uint32_t call, uint64_t site,
				const struct crit_fold *fold);
CRIT_HIDDEN bool crit_span_is_nested(struct crit_thread *thread, const uintptr_t *frame);
CRIT_HIDDEN bool crit_span_has_stripe(struct crit_thread *thread, bool *ret_may_tag);
CRIT_HIDDEN void crit_span_follow_gate(struct crit_thread *thread);
CRIT_HIDDEN struct crit_counter *crit_span_find_counter(struct crit_thread *thread, uint32_t call,
							uint64_t site);

static inline void crit_span_store_tag(struct crit_thread *thread, uint32_t what)
{
	/* an enter that is held back is not counted: it may never be written */
	__asm__ volatile("" ::: "memory");
	*(volatile uint64_t *)&thread->tag = crit_tag_pack(thread->write_pos, 0, CRIT_CALL_OF(what),
							   CRIT_CLASS_OF(what),
							   thread->stripe_number);
}

static inline struct crit_slot *crit_span_slot_at(const struct crit_thread *thread,
						  uint64_t position)
{
	return &thread->ring[position & (crit_process.ring_slots - 1)];
}

static inline void crit_span_publish(struct crit_thread *thread, uint64_t position)
{
	thread->write_pos = position;
	__atomic_store_n(&thread->stripe->write_pos, position, __ATOMIC_RELEASE);
}

/*
 * Is there room for so many slots?  Asks critd's read position only when the known room is
 * used up.
 */
static inline bool crit_span_has_room(struct crit_thread *thread, uint64_t slots)
{
	if (CRIT_LIKELY(thread->write_pos + slots <= thread->room_end))
		return true;
	thread->room_end = __atomic_load_n(&thread->stripe->read_pos, __ATOMIC_ACQUIRE) +
			   crit_process.ring_slots;
	return thread->write_pos + slots <= thread->room_end;
}

/* The counter of this call and site, or NULL when the table is full there. */
static inline struct crit_counter *crit_span_counter_of(struct crit_thread *thread, uint32_t call,
							uint64_t site)
{
	struct crit_counter *counter = thread->last_counter;

	if (CRIT_LIKELY(counter->call == call && counter->site == site))
		return counter;
	counter = crit_span_find_counter(thread, call, site);
	if (counter)
		thread->last_counter = counter;
	else
		thread->stripe->counters_lost++;
	return counter;
}

static inline bool crit_span_is_gate_moved(const struct crit_thread *thread)
{
	const struct crit_shm_head *head = crit_process.head;
	const uint64_t gate = (uint64_t) * (const volatile uint32_t *)&head->tau_ns << 32 |
			      *(const volatile uint32_t *)&head->level;

	return gate != thread->gate || *(const volatile uint32_t *)&head->is_stopped;
}

/* The parts of every enter; false when the call is nested or the thread keeps no records. */
static inline bool crit_span_begin(struct crit_thread *thread, uint32_t what, const void *frame,
				   bool *ret_is_outer)
{
	*ret_is_outer = false;
	if (CRIT_UNLIKELY(thread->outer_frame != NULL) && crit_span_is_nested(thread, frame))
		return false;
	if (CRIT_UNLIKELY(!thread->stripe) && !crit_span_has_stripe(thread, ret_is_outer) &&
	    !*ret_is_outer)
		return false;
	*ret_is_outer = true;
	thread->outer_frame = frame;
	thread->outer_return = thread->outer_frame[1];
	thread->what = what;
	if (CRIT_UNLIKELY(!thread->stripe))
		return false;
	if (CRIT_UNLIKELY(crit_span_is_gate_moved(thread)))
		crit_span_follow_gate(thread);
	return true;
}

#endif
