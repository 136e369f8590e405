// SPDX-License-Identifier: BSD-3-Clause
// The hooks: spans of one thread, from its calls to the ring and the tag word.
#include "core/shim/shim_span.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/base/hash.h"

#define COUNTER_PROBES 16
#define ANNOUNCE_REACH (256u << 10) /* as far below its caller a wrapper may stand */
#define FRAME_REACH (16u << 10) /* bytes of stack in which a frame is looked at without care */

struct crit_counter *crit_span_find_counter(struct crit_shim_thread *thread, uint32_t call,
					    uint64_t site)
{
	struct crit_counter *counters = crit_stripe_counters(thread->stripe);
	uint64_t hash = crit_hash_mix(site, (uint64_t)call << 40);
	uint32_t place = crit_hash_place(hash, CRIT_COUNTERS);

	for (int probe = 0; probe < COUNTER_PROBES; probe++) {
		struct crit_counter *counter = &counters[place];

		if (counter->call == call && counter->site == site)
			return counter;
		if (counter->call == 0) {
			counter->site = site;
			counter->call = call;
			return counter;
		}
		place = place + 1 < CRIT_COUNTERS ? place + 1 : 0;
	}
	return NULL;
}

void crit_span_fold(struct crit_shim_thread *thread, uint32_t call, uint64_t site,
		    const struct crit_fold *fold)
{
	struct crit_counter *counter = crit_span_counter_of(thread, call, site);

	thread->stripe->folded_ns += fold->time_ns;
	if (!counter)
		return;
	counter->count += fold->calls;
	counter->folded_count += fold->calls;
	counter->folded_ns += fold->time_ns;
	counter->bytes += fold->bytes;
}

/*
 * critd comes by a timer, and ranks of nothing but cheap calls fill their rings in less (4.7 ms at
 * 18 ns a slot).  So the known room ends at half a ring at first, and who has used that up calls.
 */
bool crit_span_ask_room(struct crit_shim_thread *thread, uint64_t slots)
{
	const uint64_t read_pos = __atomic_load_n(&thread->stripe->read_pos, __ATOMIC_ACQUIRE);
	const uint64_t half = crit_process.ring_slots / 2;
	const uint64_t end = read_pos + crit_process.ring_slots - thread->open_leaves;

	if (thread->write_pos + slots + half <= end) {
		thread->room_end = end - half;
		return true;
	}
	thread->room_end = end;
	if (thread->hurried_pos != read_pos) {
		thread->hurried_pos = read_pos;
		crit_client_send_hurry(&crit_process.client);
	}
	return thread->write_pos + slots <= end;
}

/* critd changed level or tau, or ended the recording; says so in the ring when there is room. */
void crit_span_follow_gate(struct crit_shim_thread *thread)
{
	const struct crit_shm_head *head = crit_process.head;
	uint32_t level = __atomic_load_n(&head->level, __ATOMIC_RELAXED);
	uint32_t tau_ns = __atomic_load_n(&head->tau_ns, __ATOMIC_RELAXED);

	crit_construct_publish(thread);
	if (__atomic_load_n(&head->is_stopped, __ATOMIC_RELAXED)) {
		thread->level = CRIT_LEVEL_NONE;
		thread->gate = UINT64_MAX; /* no level: whatever comes next is news */
		return;
	}
	crit_span_flush_poll(thread);
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

static inline struct crit_slot make_slot(enum crit_slot_kind kind, uint32_t call, uint64_t time_ns,
					 uint64_t site)
{
	return (struct crit_slot){
		.time_ns = time_ns,
		.kind = (__u8)kind,
		.slots = 1,
		.call = (__u16)call,
		.site = site,
	};
}

static void end_span(struct crit_shim_thread *thread)
{
	const uint64_t now_ns = crit_clock_now_ns(&thread->clock);
	uint64_t position = thread->write_pos + thread->pending;
	struct crit_slot *leave;

	thread->pending = 0;
	if (thread->is_recorded == CRIT_RECORDED_HELD) {
		thread->stripe->open_call = 0;
		if (now_ns - thread->enter_ns < thread->tau_ns) {
			crit_span_fold(thread, CRIT_CALL_OF(thread->what), thread->site,
				       &(struct crit_fold){ .calls = 1,
							    .time_ns = now_ns - thread->enter_ns,
							    .bytes = thread->held_bytes });
			thread->is_recorded = CRIT_RECORDED_NOT;
			thread->details_lost = 0;
			return;
		}
		position++;
	}
	leave = crit_span_slot_at(thread, position);
	*leave = make_slot(CRIT_S_LEAVE, CRIT_CALL_OF(thread->what), now_ns, 0);
	leave->arg = thread->details_lost;
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

/*
 * Inside a span already?  Frames of nested calls lie deeper.  A frame that was left by longjmp, an
 * exception or cancellation is recognised by a caller above it or by its return address
 * overwritten.
 */
bool crit_span_is_nested(struct crit_shim_thread *thread, const uintptr_t *frame)
{
	if (frame < (const uintptr_t *)thread->outer_frame && is_outer_alive(thread, frame))
		return true;
	thread->outer_frame = NULL;
	if (thread->is_recorded)
		end_span(thread);
	thread->is_poll_timed = false; /* of a poll call that was left */
	thread->pending = 0;
	return false;
}

/*
 * A thread without a stripe: its first event, or one that found none.  ret_may_tag: it has a
 * tag.
 */
bool crit_span_has_stripe(struct crit_shim_thread *thread, bool *ret_may_tag)
{
	if (!thread->is_tag_only) {
		if (!crit_shim_start(crit_process.flavour) ||
		    atomic_load_explicit(&crit_process.state, memory_order_acquire) !=
			    CRIT_PROCESS_READY)
			return false;
		crit_thread_claim(thread);
	}
	*ret_may_tag = true;
	return thread->stripe != NULL;
}

static void begin_span(struct crit_shim_thread *thread, uint32_t what, uint64_t site)
{
	const bool is_trace = thread->level == CRIT_LEVEL_TRACE;
	struct crit_slot *enter;
	uint64_t now_ns;

	if (CRIT_UNLIKELY(!crit_span_has_room(thread, 2))) {
		thread->stripe->lost_spans++;
		return;
	}
	now_ns = crit_clock_now_ns(&thread->clock);
	enter = crit_span_slot_at(thread, thread->write_pos);
	enter->time_ns = now_ns;
	enter->kind = CRIT_S_ENTER;
	enter->slots = 1;
	enter->call = (__u16)CRIT_CALL_OF(what);
	enter->region = crit_span_region(thread);
	enter->site = site;
	enter->arg = 0;
	thread->site = site;
	thread->enter_ns = now_ns;
	if (is_trace) {
		crit_span_publish(thread, thread->write_pos + 1);
		thread->is_recorded = CRIT_RECORDED_PUBLISHED;
		return;
	}
	thread->is_recorded = CRIT_RECORDED_HELD;
	thread->held_bytes = 0;
	thread->stripe->open_class = CRIT_CLASS_OF(what);
	thread->stripe->open_first_ns = now_ns;
	thread->stripe->open_last_ns = now_ns;
	thread->stripe->open_site = site;
	thread->stripe->open_call = CRIT_CALL_OF(what);
}

static __attribute__((always_inline)) inline bool
enter(struct crit_shim_thread *thread, uint32_t what, const void *frame, const void *site)
{
	bool is_outer;

	if (CRIT_LIKELY(crit_span_begin(thread, what, frame, &is_outer))) {
		if (CRIT_UNLIKELY(thread->is_polling) &&
		    crit_span_ask_in_poll(thread, what, (uint64_t)(uintptr_t)site))
			return true; /* the tag stays that of the gap */
		if (thread->level == CRIT_LEVEL_TRACE ||
		    (thread->level == CRIT_LEVEL_PROFILE && crit_span_may_wait(what))) {
			begin_span(thread, what, (uint64_t)(uintptr_t)site);
		} else if (thread->level == CRIT_LEVEL_PROFILE) {
			struct crit_counter *counter = crit_span_counter_of(
				thread, CRIT_CALL_OF(what), (uint64_t)(uintptr_t)site);

			thread->counted = counter;
			if (CRIT_LIKELY(counter != NULL))
				counter->count++;
		}
	}
	if (is_outer)
		crit_span_store_tag(thread, what);
	return is_outer;
}

bool crit_shim_enter(uint32_t what, const void *frame, const void *site)
{
	return enter(&crit_thread, what, frame, site);
}

unsigned int crit_shim_enter_detailed(uint32_t what, const void *frame, const void *site)
{
	struct crit_shim_thread *thread = &crit_thread;

	return crit_span_role(thread, what, enter(thread, what, frame, site));
}

void crit_shim_leave(void)
{
	struct crit_shim_thread *thread = &crit_thread;

	thread->outer_frame = NULL;
	if (thread->is_recorded)
		end_span(thread);
	crit_span_restore_tag(thread);
}

uint64_t crit_shim_now_ns(void)
{
	return crit_clock_now_ns(&crit_thread.clock);
}

static bool is_below(const void *frame, const void *caller)
{
	return (uintptr_t)frame < (uintptr_t)caller &&
	       (uintptr_t)caller - (uintptr_t)frame < ANNOUNCE_REACH;
}

bool crit_shim_announce(const void *frame)
{
	struct crit_shim_thread *thread = &crit_thread;

	if (is_below(frame, thread->announced_frame))
		return false;
	thread->announced_frame = frame;
	return true;
}

void crit_shim_announce_end(void)
{
	crit_thread.announced_frame = NULL;
}

const void *crit_shim_caller(const void *frame)
{
	const void *announced = crit_thread.announced_frame;

	return is_below(frame, announced) ? announced : frame;
}
