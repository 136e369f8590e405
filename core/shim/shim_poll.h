/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread's open poll span. */
#ifndef CRIT_SHIM_POLL_H
#define CRIT_SHIM_POLL_H

#include <stdbool.h>
#include <stdint.h>

#include "core/shim/shim_clock.h"

#pragma GCC visibility push(hidden)

/* Ends the open poll span with its last failing call, if there is one. */
void crit_poll_flush(struct crit_shim_thread *thread);

/*
 * A thread that polls enters another call.  True: a question, counted as part of the poll span;
 * false: the poll span is written.
 */
bool crit_poll_ask(struct crit_shim_thread *thread, uint32_t what, uint64_t site);

/* The poll call under way, if it is not yet, becomes part of the open poll span or of a new one. */
void crit_poll_join(struct crit_shim_thread *thread);

#pragma GCC visibility pop

/*
 * Here begins the poll call under way.  The stamp is made of it later: what is to be computed
 * before the call keeps the call waiting, what is left for its end runs beside the next reading.
 */
static inline void crit_poll_begin(struct crit_shim_thread *thread)
{
	thread->poll_call = CRIT_POLL_CALL_BEGUN;
	thread->enter_cycles = crit_clock_cycles();
}

/* The poll call under way failed, as those of the open span before it.  False: anything else. */
static inline bool crit_poll_go_on(struct crit_shim_thread *thread)
{
	const uint64_t begin = thread->enter_cycles, end = crit_clock_cycles();
	struct crit_thread_buffer_head *buffer = thread->buffer;
	struct crit_clock *clock = &thread->clock;
	uint64_t begin_ns, end_ns;

	if (CRIT_UNLIKELY(!thread->is_polling || thread->poll_call != CRIT_POLL_CALL_BEGUN ||
			  !crit_clock_is_fresh(clock, begin) || !crit_clock_is_fresh(clock, end)))
		return false;
	begin_ns = crit_clock_at(clock, begin);
	end_ns = crit_clock_at(clock, end);
	if (CRIT_UNLIKELY(begin_ns < clock->last_ns || end_ns < begin_ns ||
			  begin_ns - buffer->open_last_ns > crit_process.poll_gap_ns))
		return false;
	thread->poll_call = CRIT_POLL_CALL_NONE;
	clock->last_ns = end_ns;
	buffer->open_gap_sum_ns += begin_ns - buffer->open_last_ns;
	buffer->open_last_ns = end_ns;
	buffer->open_count++;
	return true;
}

#endif
