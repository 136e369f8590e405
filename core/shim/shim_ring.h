/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread's ring and its tag word, inline for the hot paths.
 *
 * Order in every transition: record, compiler barrier, tag store.  The kernel half reads the tag
 * when the thread leaves its CPU, on that CPU, so a compiler barrier is all it takes.
 */
#ifndef CRIT_SHIM_RING_H
#define CRIT_SHIM_RING_H

#include "core/abi/abi_tag.h"
#include "core/shim/shim_state.h"

#define CRIT_CALL_OF(what) (0xffffu & (what))
#define CRIT_CLASS_OF(what) ((what) >> 16 & 0xffu)
#define CRIT_TAG_OF_SPAN crit_tag_pack(0, 0, ~0u, ~0u, 0)
#define CRIT_OPEN_RECORDED (1u << 31) /* of a word of the stack: its ENTER is in the ring */
#define CRIT_OPEN_TAG_SHIFT CRIT_TAG_CLASS_SHIFT

/* The region in force, 0 outside all. */
static inline uint32_t crit_span_region(const struct crit_shim_thread *thread)
{
	return (uint32_t)(thread->tag_around >> CRIT_TAG_REGION_SHIFT);
}

/* The tag inside a call; an enter that is held back is not counted: it may never be written. */
static inline uint64_t crit_span_tag(const struct crit_shim_thread *thread, uint32_t what)
{
	return crit_tag_pack(thread->tag_pos, 0, CRIT_CALL_OF(what), CRIT_CLASS_OF(what), 0) |
	       (thread->tag_around & ~CRIT_TAG_OF_SPAN);
}

static inline void crit_span_store_tag(struct crit_shim_thread *thread, uint64_t tag)
{
	__asm__ volatile("" ::: "memory");
	*(volatile uint64_t *)&thread->tag = tag;
}

/* No MPI call any more: what is around it holds again. */
static inline void crit_span_restore_tag(struct crit_shim_thread *thread)
{
	crit_span_store_tag(thread,
			    thread->tag_pos << CRIT_TAG_SEQUENCE_SHIFT | thread->tag_around);
}

/* The slot at a position outside the lap that the thread is in. */
CRIT_HIDDEN struct crit_slot *crit_ring_change_lap(struct crit_shim_thread *thread,
						   uint64_t position);

/* Range: a position below laps_end that is not published. */
static inline struct crit_slot *crit_span_slot_at(struct crit_shim_thread *thread,
						  uint64_t position)
{
	const uint64_t in_lap = position - thread->lap_begin;

	if (CRIT_LIKELY(in_lap < crit_process.lap_slots))
		return &thread->lap[in_lap];
	return crit_ring_change_lap(thread, position);
}

/* Slots without a stamp have no place among the switches, so the tag does not count them. */
static inline void crit_span_publish_unstamped(struct crit_shim_thread *thread, uint64_t position)
{
	thread->write_pos = position;
	__atomic_store_n(&thread->buffer->write_pos, position, __ATOMIC_RELEASE);
}

static inline void crit_span_publish(struct crit_shim_thread *thread, uint64_t position)
{
	thread->tag_pos = position;
	crit_span_publish_unstamped(thread, position);
}

/*
 * The slot that ends a span, field by field: a copy of one made on the stack would wait for its
 * parts.
 */
static inline void crit_span_write_leave(struct crit_shim_thread *thread, uint64_t position,
					 uint64_t time_ns, uint32_t call, uint64_t details_lost)
{
	struct crit_slot *leave = crit_span_slot_at(thread, position);

	leave->time_ns = time_ns;
	leave->kind = CRIT_S_LEAVE;
	leave->slots = 1;
	leave->call = (__u16)call;
	leave->region = 0;
	leave->site = 0;
	leave->arg = details_lost;
}

/* The ring of the thread's buffer, just taken, and the pages it needs first. */
CRIT_HIDDEN void crit_ring_take(struct crit_shim_thread *thread);

/* Is there room for so many slots, from critd's read position, which may be new? */
CRIT_HIDDEN bool crit_ring_ask_room(struct crit_shim_thread *thread, uint64_t slots);

/* Is there room for so many slots? */
static inline bool crit_span_has_room(struct crit_shim_thread *thread, uint64_t slots)
{
	return CRIT_LIKELY(thread->write_pos + slots <= thread->room_end) ||
	       crit_ring_ask_room(thread, slots);
}

/*
 * Where the details of the open span go on, behind those that are there already, unpublished;
 * keeps the room of what ends the span.  False: no room for so many.
 */
static inline bool crit_span_add(struct crit_shim_thread *thread, uint32_t slots,
				 uint64_t *ret_position)
{
	const uint64_t ahead = (thread->is_recorded == CRIT_RECORDED_HELD) + thread->pending;

	/* a LEAVE takes one slot, a POLL two */
	if (CRIT_UNLIKELY(
		    !crit_span_has_room(thread, ahead + slots + (thread->is_recorded ? 1 : 2))))
		return false;
	thread->pending += slots;
	*ret_position = thread->write_pos + ahead;
	return true;
}

static inline bool crit_span_may_wait(uint32_t what)
{
	return CRIT_CLASS_OF(what) >= CRIT_CLASS_MPI_MAY_WAIT &&
	       CRIT_CLASS_OF(what) != CRIT_CLASS_OMP;
}

_Static_assert(CRIT_REGIONS_MAX <= 1u << (31 + CRIT_OPEN_TAG_SHIFT - CRIT_TAG_REGION_SHIFT),
	       "room in a word");

/* A word of a thread's stack of constructs: what the tag says of one. */
static inline uint32_t crit_open_word(uint32_t call, uint32_t span_class, uint32_t region)
{
	return (uint32_t)(crit_tag_pack(0, region, call, span_class, 0) >> CRIT_OPEN_TAG_SHIFT);
}

/* What the tag is outside MPI calls, from the innermost construct. */
static inline void crit_open_settle(struct crit_shim_thread *thread)
{
	const uint32_t word = thread->open_count
				      ? thread->open[thread->open_count - 1] & ~CRIT_OPEN_RECORDED
			      : thread->worker ? crit_open_word(0, CRIT_CLASS_OMP_IDLE, 0)
					       : crit_open_word(0, CRIT_CLASS_USER, 0);

	thread->tag_around = (uint64_t)word << CRIT_OPEN_TAG_SHIFT |
			     CRIT_TAG_FIELD(thread->buffer_number, BUFFER);
}

#endif
