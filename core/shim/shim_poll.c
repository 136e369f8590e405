// SPDX-License-Identifier: BSD-3-Clause
// Poll spans: failing Test*, Iprobe and their like with short gaps between them become one record.
// In a gap the program may ask a local question; any other call ends the span.
//
// The open span lives in the stripe's head, so that critd can account for a thread that dies in it.
#include "core/base/call.h"
#include "core/shim/shim_span.h"

static void write_poll(struct crit_shim_thread *thread)
{
	const struct crit_stripe_head *stripe = thread->stripe;
	const uint64_t position = thread->write_pos + thread->pending;
	struct crit_slot *first = crit_span_slot_at(thread, position);
	struct crit_slot_poll2 *second =
		(struct crit_slot_poll2 *)crit_span_slot_at(thread, position + 1);

	*first = (struct crit_slot){
		.time_ns = stripe->open_first_ns,
		.kind = CRIT_S_POLL,
		.slots = 2,
		.call = (__u16)stripe->open_call,
		.region = (__u32)stripe->open_count,
		.site = stripe->open_site,
		.arg = stripe->open_last_ns,
	};
	*second = (struct crit_slot_poll2){
		.gap_sum_ns = stripe->open_gap_sum_ns,
		.kind = CRIT_S_CONTINUED,
		.region = crit_span_region(thread),
		.count = stripe->open_count,
		.details_lost = thread->details_lost,
	};
	crit_span_publish(thread, position + 2);
}

void crit_span_flush_poll(struct crit_shim_thread *thread)
{
	struct crit_stripe_head *stripe = thread->stripe;
	uint64_t time_ns;

	if (!thread->is_polling)
		return;
	time_ns = stripe->open_last_ns - stripe->open_first_ns;
	if (thread->level == CRIT_LEVEL_PROFILE && time_ns < thread->tau_ns)
		crit_span_fold(thread, stripe->open_call, stripe->open_site,
			       &(struct crit_fold){ .calls = stripe->open_count,
						    .time_ns = time_ns });
	else if (crit_span_has_room(thread, thread->pending + 2))
		write_poll(thread);
	else
		stripe->lost_spans++;
	stripe->open_call = 0;
	thread->pending = 0;
	thread->details_lost = 0;
	thread->is_polling = false;
}

/*
 * Answered at once from the process's own memory: programs that poll for room in a buffer ask how
 * much they need, between two polls.
 */
static bool is_question(uint32_t call)
{
	switch (call) {
	case CRIT_MPI_Get_count:
	case CRIT_MPI_Get_count_c:
	case CRIT_MPI_Pack_size:
	case CRIT_MPI_Pack_size_c:
	case CRIT_MPI_Type_size:
	case CRIT_MPI_Type_size_c:
		return true;
	default:
		return false;
	}
}

bool crit_span_ask_in_poll(struct crit_shim_thread *thread, uint32_t what, uint64_t site)
{
	const uint32_t call = CRIT_CALL_OF(what);
	struct crit_counter *counter;

	if (!is_question(call) || crit_clock_now_ns(&thread->clock) - thread->stripe->open_last_ns >
					  crit_process.poll_gap_ns) {
		crit_span_flush_poll(thread);
		return false;
	}
	counter = crit_span_counter_of(thread, call, site);
	if (counter)
		counter->polled_count++;
	return true;
}

static __attribute__((always_inline)) inline bool
poll_enter(struct crit_shim_thread *thread, uint32_t what, const void *frame, const void *site)
{
	bool is_outer;

	if (CRIT_LIKELY(crit_span_begin(thread, what, frame, &is_outer)) &&
	    thread->level != CRIT_LEVEL_NONE) {
		const uint64_t now_ns = crit_clock_now_ns(&thread->clock);
		const uint64_t gap_ns = now_ns - thread->stripe->open_last_ns;

		if (thread->is_polling && gap_ns > crit_process.poll_gap_ns)
			crit_span_flush_poll(thread);
		if (thread->is_polling)
			thread->stripe->open_gap_sum_ns += gap_ns;
		thread->enter_ns = now_ns;
		thread->site = (uint64_t)(uintptr_t)site;
		thread->is_poll_timed = true;
	}
	if (is_outer)
		crit_span_store_tag(thread, what);
	return is_outer;
}

bool crit_shim_poll_enter(uint32_t what, const void *frame, const void *site)
{
	return poll_enter(&crit_thread, what, frame, site);
}

unsigned int crit_shim_poll_enter_detailed(uint32_t what, const void *frame, const void *site)
{
	struct crit_shim_thread *thread = &crit_thread;

	return crit_span_role(thread, what, poll_enter(thread, what, frame, site));
}

static void start_poll(struct crit_shim_thread *thread)
{
	struct crit_stripe_head *stripe = thread->stripe;

	stripe->open_class = CRIT_CLASS_MPI_POLL;
	stripe->open_first_ns = thread->enter_ns;
	stripe->open_count = 0;
	stripe->open_gap_sum_ns = 0;
	stripe->open_site = thread->site;
	stripe->open_call = CRIT_CALL_OF(thread->what);
	thread->is_polling = true;
}

void crit_shim_poll_leave(bool is_done)
{
	struct crit_shim_thread *thread = &crit_thread;

	thread->outer_frame = NULL;
	if (CRIT_LIKELY(thread->is_poll_timed)) {
		thread->is_poll_timed = false;
		if (!thread->is_polling)
			start_poll(thread);
		thread->stripe->open_last_ns = crit_clock_now_ns(&thread->clock);
		thread->stripe->open_count++;
		if (is_done || CRIT_UNLIKELY(thread->pending))
			crit_span_flush_poll(thread);
	}
	crit_span_restore_tag(thread);
}
