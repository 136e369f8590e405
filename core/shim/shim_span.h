/* SPDX-License-Identifier: BSD-3-Clause */
/* What spans and poll spans have in common, inline for their hot paths. */
#ifndef CRIT_SHIM_SPAN_H
#define CRIT_SHIM_SPAN_H

#include "core/shim/shim.h"
#include "core/shim/shim_clock.h"
#include "core/shim/shim_detail.h"
#include "core/shim/shim_ring.h"

struct crit_fold {
	uint64_t calls;
	uint64_t time_ns;
	uint64_t bytes;
};

/* shim_span.c */
CRIT_HIDDEN void crit_span_fold(struct crit_shim_thread *thread, uint32_t call, uint64_t site,
				const struct crit_fold *fold);
CRIT_HIDDEN bool crit_span_is_nested(struct crit_shim_thread *thread, const uintptr_t *frame);
CRIT_HIDDEN bool crit_span_has_stripe(struct crit_shim_thread *thread, bool *ret_may_tag);
CRIT_HIDDEN void crit_span_follow_gate(struct crit_shim_thread *thread);
CRIT_HIDDEN struct crit_counter *crit_span_find_counter(struct crit_shim_thread *thread,
							uint32_t call, uint64_t site);

/* shim_construct.c: the ENTER that is held back goes out, whatever comes of it. */
CRIT_HIDDEN void crit_construct_publish(struct crit_shim_thread *thread);

/* What the tag is outside MPI calls, from the innermost construct. */
CRIT_HIDDEN void crit_construct_settle(struct crit_shim_thread *thread);

/*
 * A thread that polls enters another call.  True: a question, counted as part of the poll span;
 * false: the poll span is written.
 */
CRIT_HIDDEN bool crit_span_ask_in_poll(struct crit_shim_thread *thread, uint32_t what,
				       uint64_t site);

/* The counter of this call and site, or NULL when the table is full there. */
static inline struct crit_counter *crit_span_counter_of(struct crit_shim_thread *thread,
							uint32_t call, uint64_t site)
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

static inline bool crit_span_may_wait(uint32_t what)
{
	return CRIT_CLASS_OF(what) >= CRIT_CLASS_MPI_MAY_WAIT &&
	       CRIT_CLASS_OF(what) != CRIT_CLASS_OMP;
}

/* What a wrapper of a call with details is to the span, as enum crit_shim_role. */
static inline unsigned int crit_span_role(struct crit_shim_thread *thread, uint32_t what,
					  bool is_outer)
{
	const bool is_trace = thread->level == CRIT_LEVEL_TRACE &&
			      (thread->is_recorded || thread->is_poll_timed);

	if (CRIT_LIKELY(is_outer))
		return CRIT_SHIM_OUTER | CRIT_SHIM_CALLER | (is_trace ? CRIT_SHIM_TRACE : 0);
	/* Fortran's wrapper opened the span; this is the C function it calls */
	if (!thread->outer_frame || thread->what != (what | CRIT_SHIM_FORTRAN))
		return CRIT_SHIM_NESTED;
	thread->what = what;
	return CRIT_SHIM_CALLER | (is_trace ? CRIT_SHIM_TRACE : 0);
}

static inline bool crit_span_is_gate_moved(const struct crit_shim_thread *thread)
{
	const struct crit_shm_head *head = crit_process.head;
	const uint64_t gate = (uint64_t) * (const volatile uint32_t *)&head->tau_ns << 32 |
			      *(const volatile uint32_t *)&head->level;

	return gate != thread->gate || *(const volatile uint32_t *)&head->is_stopped;
}

/* The parts of every enter; false when the call is nested or the thread keeps no records. */
static inline bool crit_span_begin(struct crit_shim_thread *thread, uint32_t what,
				   const void *frame, bool *ret_is_outer)
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
