// SPDX-License-Identifier: BSD-3-Clause
// The hooks: spans of one thread, from its calls to the ring and the tag word.
#include "core/shim/shim_span.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/shim/shim_clock.h"
#include "core/shim/shim_counter.h"
#include "core/shim/shim_gate.h"
#include "core/shim/shim_poll.h"
#include "core/shim/shim_process.h"
#include "core/shim/shim_thread.h"

#define ANNOUNCE_REACH (256u << 10) /* as far below its caller a wrapper may stand */
#define FRAME_REACH (16u << 10) /* bytes of stack in which a frame is looked at without care */

/* The ENTER of the open span, at the next position. */
static inline void write_enter(struct crit_shim_thread *thread)
{
	struct crit_slot *enter = crit_span_slot_at(thread, thread->write_pos);

	enter->time_ns = thread->enter_ns;
	enter->kind = CRIT_S_ENTER;
	enter->slots = 1;
	enter->call = (__u16)CRIT_CALL_OF(thread->what);
	enter->region = crit_span_region(thread);
	enter->site = thread->site;
	enter->arg = 0;
}

void crit_span_publish_held(struct crit_shim_thread *thread)
{
	write_enter(thread);
	crit_span_publish(thread, thread->write_pos + 1);
	thread->is_recorded = CRIT_RECORDED_PUBLISHED;
	thread->buffer->open_call = 0;
}

bool crit_span_fold(struct crit_shim_thread *thread, uint64_t now_ns, uint64_t bytes)
{
	const uint64_t time_ns = now_ns - thread->enter_ns;

	if (time_ns >= thread->tau_ns)
		return false;
	thread->buffer->open_call = 0;
	thread->is_recorded = CRIT_RECORDED_NOT;
	thread->details_lost = 0;
	thread->pending = 0;
	crit_counter_fold(thread, CRIT_CALL_OF(thread->what), thread->site, 1, time_ns, bytes);
	return true;
}

static void end_span(struct crit_shim_thread *thread)
{
	const uint64_t now_ns = crit_clock_now_ns(&thread->clock);
	uint64_t position = thread->write_pos + thread->pending;

	if (thread->is_recorded == CRIT_RECORDED_HELD) {
		if (crit_span_fold(thread, now_ns, 0))
			return;
		thread->buffer->open_call = 0;
		write_enter(thread);
		position++;
	}
	crit_span_write_leave(thread, position, now_ns, CRIT_CALL_OF(thread->what),
			      thread->details_lost);
	thread->pending = 0;
	thread->details_lost = 0;
	crit_span_publish(thread, position + 1);
	thread->is_recorded = CRIT_RECORDED_NOT;
}

/*
 * Is the return address of the outermost call still in its place?  A frame far from there may lie
 * on another stack, as coroutines have, and the stack of the outermost call may be gone.
 */
static bool is_outer_alive(const struct crit_shim_thread *thread, const uintptr_t *frame)
{
	const uintptr_t *place = &thread->outer_frame[1];
	const int saved_errno = errno;
	uintptr_t word = 0;
	bool is_alive;

	if ((uintptr_t)place - (uintptr_t)frame <= FRAME_REACH)
		return *place == thread->outer_return;
	is_alive = process_vm_readv(getpid(), &(struct iovec){ &word, sizeof(word) }, 1,
				    &(struct iovec){ (void *)(uintptr_t)place, sizeof(word) }, 1,
				    0) < 0
			   ? errno != EFAULT
			   : word == thread->outer_return;
	errno = saved_errno;
	return is_alive;
}

bool crit_span_is_nested(struct crit_shim_thread *thread, const uintptr_t *frame)
{
	if (frame < (const uintptr_t *)thread->outer_frame && is_outer_alive(thread, frame))
		return true;
	thread->outer_frame = NULL;
	if (thread->is_recorded)
		end_span(thread);
	thread->poll_call = CRIT_POLL_CALL_NONE; /* it was left */
	thread->pending = 0;
	return false;
}

bool crit_span_has_buffer(struct crit_shim_thread *thread, bool *ret_may_tag)
{
	if (!thread->is_tag_only) {
		if (!crit_shim_start(crit_process.flavour) || !crit_process_records())
			return false;
		crit_thread_claim(thread);
	}
	*ret_may_tag = true;
	return thread->buffer != NULL;
}

static void begin_span(struct crit_shim_thread *thread, uint32_t what, uint64_t site)
{
	const bool is_trace = thread->level == CRIT_LEVEL_TRACE;
	uint64_t now_ns;

	if (CRIT_UNLIKELY(!crit_span_has_room(thread, 2))) {
		thread->buffer->lost_spans++;
		return;
	}
	now_ns = crit_clock_now_ns(&thread->clock);
	thread->site = site;
	thread->enter_ns = now_ns;
	if (is_trace) {
		write_enter(thread);
		crit_span_publish(thread, thread->write_pos + 1);
		thread->is_recorded = CRIT_RECORDED_PUBLISHED;
		return;
	}
	thread->is_recorded = CRIT_RECORDED_HELD;
	thread->buffer->open_class = CRIT_CLASS_OF(what);
	thread->buffer->open_first_ns = now_ns;
	thread->buffer->open_last_ns = now_ns;
	thread->buffer->open_site = site;
	thread->buffer->open_call = CRIT_CALL_OF(what);
}

/* The parts of every enter; false when the call is nested or the thread keeps no records. */
static inline bool begin_any(struct crit_shim_thread *thread, uint32_t what, const void *frame,
			     bool *ret_is_outer)
{
	*ret_is_outer = false;
	if (CRIT_UNLIKELY(thread->outer_frame != NULL) && crit_span_is_nested(thread, frame))
		return false;
	if (CRIT_UNLIKELY(!thread->buffer) && !crit_span_has_buffer(thread, ret_is_outer) &&
	    !*ret_is_outer)
		return false;
	*ret_is_outer = true;
	thread->outer_frame = frame;
	thread->outer_return = thread->outer_frame[1];
	thread->what = what;
	if (CRIT_UNLIKELY(!thread->buffer))
		return false;
	if (CRIT_UNLIKELY(crit_gate_is_moved(thread)))
		crit_gate_follow(thread);
	return true;
}

/* What a wrapper of a call with details is to the span, as enum crit_shim_role. */
static inline unsigned int role_of(struct crit_shim_thread *thread, uint32_t what, bool is_outer)
{
	const bool is_trace = thread->level == CRIT_LEVEL_TRACE;

	if (CRIT_LIKELY(is_outer))
		return CRIT_SHIM_OUTER | CRIT_SHIM_CALLER | (is_trace ? CRIT_SHIM_TRACE : 0);
	/* Fortran's wrapper opened the span; this is the C function it calls */
	if (!thread->outer_frame || thread->what != (what | CRIT_SHIM_FORTRAN))
		return CRIT_SHIM_NESTED;
	thread->what = what;
	return CRIT_SHIM_CALLER | (is_trace ? CRIT_SHIM_TRACE : 0);
}

static __attribute__((always_inline)) inline bool
enter(struct crit_shim_thread *thread, uint32_t what, const void *frame, const void *site)
{
	bool is_outer;

	if (CRIT_LIKELY(begin_any(thread, what, frame, &is_outer))) {
		if (CRIT_UNLIKELY(thread->is_polling) &&
		    crit_poll_ask(thread, what, (uint64_t)(uintptr_t)site))
			return true; /* the tag stays that of the gap */
		if (thread->level == CRIT_LEVEL_TRACE ||
		    (thread->level == CRIT_LEVEL_PROFILE && crit_span_may_wait(what))) {
			begin_span(thread, what, (uint64_t)(uintptr_t)site);
		} else if (thread->level == CRIT_LEVEL_PROFILE) {
			struct crit_counter *counter = crit_counter_of(thread, CRIT_CALL_OF(what),
								       (uint64_t)(uintptr_t)site);

			thread->counted = counter;
			if (CRIT_LIKELY(counter != NULL))
				counter->count++;
		}
	}
	if (is_outer)
		crit_span_store_tag(thread, crit_span_tag(thread, what));
	return is_outer;
}

bool crit_shim_enter(uint32_t what, const void *frame, const void *site)
{
	return enter(&crit_this_thread, what, frame, site);
}

unsigned int crit_shim_enter_detailed(uint32_t what, const void *frame, const void *site)
{
	struct crit_shim_thread *thread = &crit_this_thread;

	return role_of(thread, what, enter(thread, what, frame, site));
}

void crit_shim_leave(void)
{
	struct crit_shim_thread *thread = &crit_this_thread;

	thread->outer_frame = NULL;
	if (thread->is_recorded)
		end_span(thread);
	crit_span_restore_tag(thread);
}

static __attribute__((noinline)) bool poll_enter_otherwise(struct crit_shim_thread *thread,
							   uint32_t what, const void *frame,
							   const void *site)
{
	bool is_outer;

	if (CRIT_LIKELY(begin_any(thread, what, frame, &is_outer)) &&
	    thread->level != CRIT_LEVEL_NONE) {
		thread->site = (uint64_t)(uintptr_t)site;
		thread->enter_ns = crit_clock_now_ns(&thread->clock);
		thread->enter_cycles = 0;
		thread->poll_call = CRIT_POLL_CALL_BEGUN;
	}
	if (is_outer)
		crit_span_store_tag(thread, crit_span_tag(thread, what));
	return is_outer;
}

/* One poll after another; the first one, and what else there is to do, is done otherwise. */
static __attribute__((always_inline)) inline bool
poll_enter(struct crit_shim_thread *thread, uint32_t what, const void *frame, const void *site)
{
	uint64_t tag;

	if (CRIT_UNLIKELY(!thread->is_polling || thread->outer_frame ||
			  crit_gate_is_moved(thread) || !crit_clock_counts(&thread->clock)))
		return poll_enter_otherwise(thread, what, frame, site);
	tag = crit_span_tag(thread, what);
	thread->outer_frame = frame;
	thread->outer_return = thread->outer_frame[1];
	thread->what = what;
	thread->site = (uint64_t)(uintptr_t)site;
	crit_poll_begin(thread);
	crit_span_store_tag(thread, tag);
	return true;
}

bool crit_shim_poll_enter(uint32_t what, const void *frame, const void *site)
{
	return poll_enter(&crit_this_thread, what, frame, site);
}

unsigned int crit_shim_poll_enter_detailed(uint32_t what, const void *frame, const void *site)
{
	struct crit_shim_thread *thread = &crit_this_thread;

	return role_of(thread, what, poll_enter(thread, what, frame, site));
}

static __attribute__((noinline)) void poll_leave_otherwise(struct crit_shim_thread *thread,
							   bool is_done)
{
	if (CRIT_LIKELY(thread->poll_call)) {
		crit_poll_join(thread);
		thread->poll_call = CRIT_POLL_CALL_NONE;
		thread->buffer->open_last_ns = crit_clock_now_ns(&thread->clock);
		thread->buffer->open_count++;
		if (is_done || CRIT_UNLIKELY(thread->pending))
			crit_poll_flush(thread);
	}
	crit_span_restore_tag(thread);
}

void crit_shim_poll_leave(bool is_done)
{
	struct crit_shim_thread *thread = &crit_this_thread;

	thread->outer_frame = NULL;
	if (CRIT_UNLIKELY(is_done) || !crit_poll_go_on(thread))
		poll_leave_otherwise(thread, is_done);
	else
		crit_span_restore_tag(thread);
}

uint64_t crit_shim_now_ns(void)
{
	return crit_clock_now_ns(&crit_this_thread.clock);
}

static bool is_below(const void *frame, const void *caller)
{
	return (uintptr_t)frame < (uintptr_t)caller &&
	       (uintptr_t)caller - (uintptr_t)frame < ANNOUNCE_REACH;
}

bool crit_shim_announce(const void *frame)
{
	struct crit_shim_thread *thread = &crit_this_thread;

	if (is_below(frame, thread->announced_frame))
		return false;
	thread->announced_frame = frame;
	return true;
}

void crit_shim_announce_end(void)
{
	crit_this_thread.announced_frame = NULL;
}

const void *crit_shim_caller(const void *frame)
{
	const void *announced = crit_this_thread.announced_frame;

	return is_below(frame, announced) ? announced : frame;
}
