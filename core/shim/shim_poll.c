// SPDX-License-Identifier: BSD-3-Clause
// Poll spans: failing Test*, Iprobe and their like with short gaps between them become one record.
// In a gap the program may ask a local question; any other call ends the span.
//
// The open span lives in the thread buffer's head, so that critd can account for a thread that dies
// in it.
#include "core/shim/shim_poll.h"

#include "core/base/call.h"
#include "core/shim/shim_clock.h"
#include "core/shim/shim_counter.h"

static void write_poll(struct crit_shim_thread *thread)
{
	const struct crit_thread_buffer_head *buffer = thread->buffer;
	const uint64_t position = thread->write_pos + thread->pending;
	struct crit_slot *first = crit_span_slot_at(thread, position);
	struct crit_slot_poll2 *second =
		(struct crit_slot_poll2 *)crit_span_slot_at(thread, position + 1);

	*first = (struct crit_slot){
		.time_ns = buffer->open_first_ns,
		.kind = CRIT_S_POLL,
		.slots = 2,
		.call = (__u16)buffer->open_call,
		.region = (__u32)buffer->open_count,
		.site = buffer->open_site,
		.arg = buffer->open_last_ns,
	};
	*second = (struct crit_slot_poll2){
		.gap_sum_ns = buffer->open_gap_sum_ns,
		.kind = CRIT_S_CONTINUED,
		.region = crit_span_region(thread),
		.count = buffer->open_count,
		.details_lost = thread->details_lost,
	};
	crit_span_publish(thread, position + 2);
}

void crit_poll_flush(struct crit_shim_thread *thread)
{
	struct crit_thread_buffer_head *buffer = thread->buffer;
	uint64_t time_ns;

	if (!thread->is_polling)
		return;
	time_ns = buffer->open_last_ns - buffer->open_first_ns;
	if (thread->level == CRIT_LEVEL_PROFILE && time_ns < thread->tau_ns)
		crit_counter_fold(thread, buffer->open_call, buffer->open_site, buffer->open_count,
				  time_ns, 0);
	else if (crit_span_has_room(thread, thread->pending + 2))
		write_poll(thread);
	else
		buffer->lost_spans++;
	buffer->open_call = 0;
	thread->pending = 0;
	thread->details_lost = 0;
	thread->is_polling = false;
}

static void start(struct crit_shim_thread *thread, uint64_t begin_ns)
{
	struct crit_thread_buffer_head *buffer = thread->buffer;

	buffer->open_class = CRIT_CLASS_MPI_POLL;
	buffer->open_first_ns = begin_ns;
	buffer->open_count = 0;
	buffer->open_gap_sum_ns = 0;
	buffer->open_site = thread->site;
	buffer->open_call = CRIT_CALL_OF(thread->what);
	thread->is_polling = true;
}

void crit_poll_join(struct crit_shim_thread *thread)
{
	struct crit_thread_buffer_head *buffer = thread->buffer;
	uint64_t begin_ns;

	if (thread->poll_call != CRIT_POLL_CALL_BEGUN)
		return;
	thread->poll_call = CRIT_POLL_CALL_JOINED;
	begin_ns = thread->enter_cycles ? crit_clock_past_ns(&thread->clock, thread->enter_cycles)
					: thread->enter_ns;
	if (thread->is_polling && begin_ns - buffer->open_last_ns > crit_process.poll_gap_ns)
		crit_poll_flush(thread);
	if (thread->is_polling)
		buffer->open_gap_sum_ns += begin_ns - buffer->open_last_ns;
	else
		start(thread, begin_ns);
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

bool crit_poll_ask(struct crit_shim_thread *thread, uint32_t what, uint64_t site)
{
	const uint32_t call = CRIT_CALL_OF(what);
	struct crit_counter *counter;

	if (!is_question(call) || crit_clock_now_ns(&thread->clock) - thread->buffer->open_last_ns >
					  crit_process.poll_gap_ns) {
		crit_poll_flush(thread);
		return false;
	}
	counter = crit_counter_of(thread, call, site);
	if (counter)
		counter->polled_count++;
	return true;
}
