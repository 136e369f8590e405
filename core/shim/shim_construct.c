// SPDX-License-Identifier: BSD-3-Clause
// Spans that nest: a thread's stack of OpenMP constructs and phases.
//
// A word of the stack is what the tag says of the construct, and whether its ENTER is in the ring.
// The room of such a one's LEAVE is taken off the thread's room_end, so spans of MPI, which know
// nothing of this stack, leave it free.
#include "core/shim/shim_construct.h"

#include "core/base/call.h"
#include "core/shim/shim_clock.h"
#include "core/shim/shim_counter.h"
#include "core/shim/shim_gate.h"
#include "core/shim/shim_poll.h"
#include "core/shim/shim_process.h"
#include "core/shim/shim_region.h"
#include "core/shim/shim_span.h"

static _Atomic uint64_t instances;

static inline uint32_t call_of(uint32_t word)
{
	return (uint32_t)CRIT_TAG_FIELD((uint64_t)word << CRIT_OPEN_TAG_SHIFT, CALL);
}

/* Is the caller outside MPI calls?  One that was left without its end is over. */
static inline bool is_outside_mpi(struct crit_shim_thread *thread, const void *frame)
{
	return CRIT_LIKELY(!thread->outer_frame) || !crit_span_is_nested(thread, frame);
}

static bool has_tag(struct crit_shim_thread *thread)
{
	bool may_tag = false;

	return crit_span_has_buffer(thread, &may_tag) || may_tag;
}

/* now_ns, if it was taken just now, with none after it; else a new one. */
static inline uint64_t stamp(struct crit_shim_thread *thread, uint64_t now_ns)
{
	return now_ns && now_ns == thread->clock.last_ns ? now_ns
							 : crit_clock_now_ns(&thread->clock);
}

static void write_note(struct crit_shim_thread *thread, enum crit_slot_kind kind, uint32_t call,
		       uint64_t arg, uint64_t now_ns)
{
	*crit_span_slot_at(thread, thread->write_pos) = (struct crit_slot){
		.time_ns = stamp(thread, now_ns),
		.kind = (__u8)kind,
		.slots = 1,
		.call = (__u16)call,
		.region = crit_span_region(thread),
		.arg = arg,
	};
	crit_span_publish(thread, thread->write_pos + 1);
}

static void tell_worker(struct crit_shim_thread *thread)
{
	if (thread->level == CRIT_LEVEL_NONE || !crit_span_has_room(thread, 1))
		return; /* the next construct tries again */
	write_note(thread, CRIT_S_WORKER, 0, 0, 0);
	thread->worker = CRIT_WORKER_TOLD;
}

/* Before whatever a thread with a thread buffer tells. */
static inline void prepare(struct crit_shim_thread *thread)
{
	if (CRIT_UNLIKELY(thread->is_polling))
		crit_poll_flush(thread);
	if (CRIT_UNLIKELY(crit_gate_is_moved(thread)))
		crit_gate_follow(thread);
	if (CRIT_UNLIKELY(thread->worker == CRIT_WORKER_UNTOLD))
		tell_worker(thread);
}

static bool is_whole_at_profile(uint32_t call)
{
	return call == CRIT_CONSTRUCT_PARALLEL || call == CRIT_CONSTRUCT_TASK ||
	       call == CRIT_CONSTRUCT_PHASE;
}

/* Returns the stamp; 0: there is no room for enter and leave. */
static inline uint64_t enter(struct crit_shim_thread *thread, uint32_t call, uint32_t region,
			     uint64_t site, uint64_t arg, uint64_t now_ns)
{
	struct crit_slot *slot;

	if (CRIT_UNLIKELY(!crit_region_is_known(region)))
		crit_region_introduce(thread, region);
	if (CRIT_UNLIKELY(!crit_span_has_room(thread, 2)))
		return 0;
	now_ns = stamp(thread, now_ns);
	thread->open_leaves++;
	thread->room_end--;
	slot = crit_span_slot_at(thread, thread->write_pos);
	slot->time_ns = now_ns;
	slot->kind = CRIT_S_ENTER;
	slot->slots = 1;
	slot->call = (__u16)call;
	slot->region = region;
	slot->site = site;
	slot->arg = arg;
	if (CRIT_LIKELY(thread->level == CRIT_LEVEL_TRACE) || is_whole_at_profile(call))
		crit_span_publish(thread, thread->write_pos + 1);
	else
		crit_gate_hold(thread, slot);
	return now_ns;
}

static inline bool is_wanted(const struct crit_shim_thread *thread, uint32_t call,
			     uint32_t span_class)
{
	return CRIT_LIKELY(thread->level == CRIT_LEVEL_TRACE) ||
	       (thread->level == CRIT_LEVEL_PROFILE &&
		(span_class == CRIT_CLASS_OMP_WAIT || is_whole_at_profile(call)));
}

/* The end of a wait that was held back; true: it was short, and is folded. */
static bool fold(struct crit_shim_thread *thread, uint32_t call, uint64_t now_ns)
{
	const uint64_t time_ns = now_ns - thread->enter_ns;

	if (time_ns < thread->tau_ns) {
		crit_gate_release(thread);
		crit_counter_fold(thread, call, thread->site, 1, time_ns, 0);
		return true;
	}
	crit_gate_release(thread);
	thread->write_pos++; /* published with its LEAVE */
	return false;
}

/* now_ns: as stamp has it.  Returns the stamp of the end, or now_ns where none was needed. */
static inline uint64_t end_innermost(struct crit_shim_thread *thread, uint64_t now_ns)
{
	const uint32_t word = thread->open[--thread->open_count];

	if (!(word & CRIT_OPEN_RECORDED))
		return now_ns;
	now_ns = stamp(thread, now_ns);
	thread->open_leaves--;
	thread->room_end++;
	if (CRIT_UNLIKELY(thread->is_construct_held) && fold(thread, call_of(word), now_ns))
		return now_ns;
	crit_span_write_leave(thread, thread->write_pos, now_ns, call_of(word), 0);
	crit_span_publish(thread, thread->write_pos + 1);
	return now_ns;
}

/* Does an end look no further for its beginning than to this construct? */
static bool is_bound(uint32_t call, uint32_t around)
{
	return (around == CRIT_CONSTRUCT_PARALLEL || around == CRIT_CONSTRUCT_TASK) &&
	       call != CRIT_CONSTRUCT_PARALLEL;
}

/* How many constructs stay open; all when the end fits none. */
static inline uint32_t left_open(const struct crit_shim_thread *thread, uint32_t call)
{
	for (uint32_t count = thread->open_count; count > 0; count--) {
		const uint32_t innermost = call_of(thread->open[count - 1]);

		if (innermost == call)
			return count - 1;
		if (is_bound(call, innermost))
			break;
	}
	return thread->open_count;
}

/* Returns the stamp of the ends; 0: none was needed. */
static inline uint64_t end_down_to(struct crit_shim_thread *thread, uint32_t left)
{
	uint64_t now_ns = 0;

	if (thread->open_count <= left)
		return 0;
	if (CRIT_UNLIKELY(thread->is_polling))
		crit_poll_flush(thread);
	while (thread->open_count > left)
		now_ns = end_innermost(thread, now_ns);
	crit_open_settle(thread);
	crit_span_restore_tag(thread);
	return now_ns;
}

/* now_ns: as stamp has it.  Returns the stamp of the beginning; 0: it is not recorded. */
static inline uint64_t begin(struct crit_shim_thread *thread, uint32_t call, uint32_t region,
			     uint64_t site, uint64_t arg, uint64_t now_ns)
{
	const uint32_t span_class = crit_call_class(call);
	const uint32_t limit = thread->buffer ? CRIT_THREAD_BUFFER_OWN_WORDS : CRIT_OPEN_TAG_ONLY;
	uint32_t word = crit_open_word(call, span_class, region &= CRIT_REGIONS_MAX - 1);
	uint64_t begun_ns = 0;

	thread->open_inside = 0;
	if (CRIT_UNLIKELY(!thread->buffer) && !has_tag(thread))
		return 0;
	if (CRIT_LIKELY(thread->buffer != NULL))
		prepare(thread);
	if (call == CRIT_CONSTRUCT_PARALLEL && !(arg & CRIT_INSTANCE_PRIMARY))
		(void)end_down_to(thread, 0); /* from the pool: what it left open is over */
	if (CRIT_UNLIKELY(thread->open_count >= limit)) {
		thread->open_beyond++;
		if (thread->buffer && is_wanted(thread, call, span_class))
			thread->buffer->lost_spans++;
		return 0;
	}
	if (CRIT_LIKELY(thread->buffer != NULL) && is_wanted(thread, call, span_class)) {
		begun_ns = enter(thread, call, region, site, arg, now_ns);
		if (CRIT_LIKELY(begun_ns))
			word |= CRIT_OPEN_RECORDED;
		else
			thread->buffer->lost_spans++;
	}
	thread->open[thread->open_count++] = word;
	crit_open_settle(thread);
	crit_span_restore_tag(thread);
	return begun_ns;
}

/* As end_down_to. */
static inline uint64_t end(struct crit_shim_thread *thread, uint32_t call)
{
	thread->open_inside = 0;
	if (CRIT_UNLIKELY(thread->open_beyond)) {
		thread->open_beyond--;
		return 0;
	}
	return end_down_to(thread, left_open(thread, call));
}

void crit_shim_construct_begin(uint32_t call, uint32_t region, const void *site, uint64_t arg)
{
	struct crit_shim_thread *thread = &crit_this_thread;

	if (is_outside_mpi(thread, __builtin_frame_address(0)))
		(void)begin(thread, call, region, (uintptr_t)site, arg, 0);
	else
		thread->open_inside++;
}

void crit_shim_construct_begin_two(uint32_t outer, uint32_t inner, uint32_t region,
				   const void *site, uint64_t arg)
{
	struct crit_shim_thread *thread = &crit_this_thread;
	uint64_t now_ns;

	if (!is_outside_mpi(thread, __builtin_frame_address(0))) {
		thread->open_inside += 2;
		return;
	}
	now_ns = begin(thread, outer, region, (uintptr_t)site, arg, 0);
	(void)begin(thread, inner, region, (uintptr_t)site, 0, now_ns);
}

void crit_shim_construct_end(uint32_t call)
{
	struct crit_shim_thread *thread = &crit_this_thread;

	if (is_outside_mpi(thread, __builtin_frame_address(0)))
		(void)end(thread, call);
	else
		thread->open_inside -= thread->open_inside > 0;
}

void crit_shim_construct_next(uint32_t ended, uint32_t call, uint32_t region, const void *site,
			      uint64_t arg)
{
	struct crit_shim_thread *thread = &crit_this_thread;

	if (is_outside_mpi(thread, __builtin_frame_address(0)))
		(void)begin(thread, call, region, (uintptr_t)site, arg, end(thread, ended));
	else
		thread->open_inside += thread->open_inside == 0;
}

/* At level trace only.  False: there was no room. */
static bool note_at_trace(struct crit_shim_thread *thread, enum crit_slot_kind kind, uint32_t call,
			  uint64_t arg, uint64_t now_ns)
{
	bool has_room = crit_span_has_room(thread, 1);

	if (has_room)
		write_note(thread, kind, call, arg, now_ns);
	else
		thread->buffer->lost_spans++;
	crit_span_restore_tag(thread);
	return has_room;
}

/* Is the caller to tell what only level trace has? */
static bool is_traced(struct crit_shim_thread *thread, const void *frame)
{
	if (!thread->buffer || !is_outside_mpi(thread, frame))
		return false;
	prepare(thread);
	return thread->level == CRIT_LEVEL_TRACE;
}

void crit_shim_construct_release(uint32_t call, uint64_t lock)
{
	struct crit_shim_thread *thread = &crit_this_thread;

	if (is_traced(thread, __builtin_frame_address(0)))
		(void)note_at_trace(thread, CRIT_S_RELEASE, call, lock, 0);
}

void crit_shim_construct_end_and_release(uint32_t ended, uint32_t call, uint64_t lock)
{
	struct crit_shim_thread *thread = &crit_this_thread;
	uint64_t now_ns;

	if (!is_outside_mpi(thread, __builtin_frame_address(0))) {
		thread->open_inside -= thread->open_inside > 0;
		return;
	}
	now_ns = end(thread, ended);
	if (is_traced(thread, __builtin_frame_address(0)))
		(void)note_at_trace(thread, CRIT_S_RELEASE, call, lock, now_ns);
}

uint64_t crit_shim_task_made(void)
{
	struct crit_shim_thread *thread = &crit_this_thread;
	uint64_t task;

	if (!is_traced(thread, __builtin_frame_address(0)))
		return 0;
	task = (uint64_t)thread->buffer_number << CRIT_OMP_TASK_BUFFER_SHIFT |
	       (uint32_t)(thread->write_pos + 1);
	return note_at_trace(thread, CRIT_S_TASK, CRIT_OMP_TASK_MADE, task, 0) ? task : 0;
}

void crit_shim_task_paused(uint64_t task)
{
	struct crit_shim_thread *thread = &crit_this_thread;

	if (task && is_traced(thread, __builtin_frame_address(0)))
		(void)note_at_trace(thread, CRIT_S_TASK, CRIT_OMP_TASK_PAUSED, task, 0);
}

void crit_shim_worker(void)
{
	struct crit_shim_thread *thread = &crit_this_thread;

	if (thread->worker || !is_outside_mpi(thread, __builtin_frame_address(0)) ||
	    (!thread->buffer && !has_tag(thread)))
		return;
	thread->worker = CRIT_WORKER_UNTOLD;
	if (thread->buffer)
		prepare(thread);
	crit_open_settle(thread);
	crit_span_restore_tag(thread);
}

uint64_t crit_shim_instance(void)
{
	return CRIT_INSTANCE_NUMBER(1 +
				    atomic_fetch_add_explicit(&instances, 1, memory_order_relaxed));
}

uint32_t crit_shim_region_now(void)
{
	return crit_span_region(&crit_this_thread);
}

void crit_region_begin(const char *name)
{
	const char *known = name && *name ? name : "?"; /* its end will come as well */

	if (crit_shim_start(CRIT_FLAVOUR_NONE))
		crit_shim_construct_begin(CRIT_CONSTRUCT_PHASE,
					  crit_shim_phase(known, crit_shim_region_now()), NULL, 0);
}

void crit_region_end(void)
{
	crit_shim_construct_end(CRIT_CONSTRUCT_PHASE);
}
