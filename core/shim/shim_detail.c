// SPDX-License-Identifier: BSD-3-Clause
// Details of the open span: slots behind its ENTER, published with what ends it.
#include "core/shim/shim_detail.h"

#include "core/shim/shim_comm.h"
#include "core/shim/shim_poll.h"
#include "core/shim/shim_ring.h"
#include "core/shim/shim_span.h"

/* A poll call that has details finds the span that they are of. */
static inline bool is_traced(struct crit_shim_thread *thread)
{
	if (thread->level != CRIT_LEVEL_TRACE)
		return false;
	if (thread->poll_call)
		crit_poll_join(thread);
	return thread->is_recorded || thread->poll_call;
}

/* Level profile, a call that is counted, not recorded. */
static void count_bytes(const struct crit_shim_thread *thread, uint64_t bytes)
{
	if (thread->level == CRIT_LEVEL_PROFILE && thread->outer_frame && thread->counted &&
	    !crit_span_may_wait(thread->what) && bytes != CRIT_BYTES_UNKNOWN)
		thread->counted->bytes += bytes;
}

/* What both parts of a collective come to. */
static uint64_t sum_of(const struct crit_shim_sizes *sizes)
{
	if (sizes->sent_bytes == CRIT_BYTES_UNKNOWN || sizes->received_bytes == CRIT_BYTES_UNKNOWN)
		return CRIT_BYTES_UNKNOWN;
	return sizes->sent_bytes + sizes->received_bytes;
}

/*
 * A collective that is held back is over when its detail comes.  If it was short, the detail is not
 * written, only to be thrown away.
 */
static bool fold(struct crit_shim_thread *thread, const struct crit_shim_sizes *sizes)
{
	const uint64_t bytes = sum_of(sizes);

	return crit_span_fold(thread, crit_clock_now_ns(&thread->clock),
			      bytes != CRIT_BYTES_UNKNOWN ? bytes : 0);
}

/* Field by field into the ring: a copy of a struct just filled would wait for its parts. */
static inline void fill(struct crit_slot *slot, uint32_t detail, uint32_t comm,
			const struct crit_slot_detail *rest)
{
	struct crit_slot_detail *to = (struct crit_slot_detail *)(void *)slot;

	to->bytes = rest->bytes;
	to->kind = CRIT_S_DETAIL;
	to->slots = 1;
	to->detail = (__u16)detail;
	to->comm = comm;
	to->peer = rest->peer;
	to->tag = rest->tag;
	to->request = rest->request;
}

/* The communicator's number, 0 when the recording does not know it. */
static inline uint32_t number_of(struct crit_shim_thread *thread, uint64_t handle)
{
	struct crit_comm *comm = thread->comm;
	uint32_t number;

	if (!handle)
		return 0;
	if (CRIT_UNLIKELY(!comm || comm->handle != handle)) {
		comm = crit_comm_find(handle);
		if (!comm)
			return 0;
		thread->comm = comm;
	}
	number = comm->known_as;
	return CRIT_LIKELY(number) ? number : crit_comm_introduce(thread, comm);
}

void crit_shim_detail(uint32_t detail, uint64_t comm, int32_t peer, int32_t tag, uint64_t bytes,
		      uint64_t request)
{
	struct crit_shim_thread *thread = &crit_this_thread;
	uint64_t position;
	uint32_t number;

	if (CRIT_UNLIKELY(!is_traced(thread))) {
		count_bytes(thread, bytes);
		return;
	}
	number = number_of(thread, comm); /* may add its COMM slot */
	if (CRIT_LIKELY(crit_span_add(thread, 1, &position)))
		fill(crit_span_slot_at(thread, position), detail, number,
		     &(struct crit_slot_detail){
			     .bytes = bytes, .peer = peer, .tag = tag, .request = request });
	else
		thread->details_lost++;
}

void crit_shim_collective(uint32_t detail, uint64_t handle, int32_t root,
			  const struct crit_shim_sizes *sizes, uint64_t request)
{
	struct crit_shim_thread *thread = &crit_this_thread;
	const uint32_t number = thread->is_recorded ? number_of(thread, handle) : 0;
	struct crit_comm *comm = thread->comm;
	const uint32_t slots = detail == CRIT_D_COLL ? 1 : 2;
	int32_t sequence = -1;
	uint64_t position;

	if (CRIT_UNLIKELY(!comm || comm->handle != handle))
		comm = crit_comm_find(handle);
	if (comm && detail != CRIT_D_COLL_INIT) /* MPI forbids two at once on one communicator */
		sequence = (int32_t)comm->collectives++;
	if (!thread->is_recorded) {
		count_bytes(thread, sum_of(sizes));
		return;
	}
	if (thread->is_recorded == CRIT_RECORDED_HELD && fold(thread, sizes))
		return;
	if (CRIT_UNLIKELY(!crit_span_add(thread, slots, &position))) {
		thread->details_lost += slots;
		return;
	}
	fill(crit_span_slot_at(thread, position), detail, number,
	     &(struct crit_slot_detail){ .bytes = sizes->sent_bytes,
					 .peer = root,
					 .tag = sequence,
					 .request = slots == 1 ? sizes->received_bytes : request });
	if (slots == 2)
		fill(crit_span_slot_at(thread, position + 1), CRIT_D_RECEIVED, 0,
		     &(struct crit_slot_detail){ .bytes = sizes->received_bytes });
}

void crit_shim_collective_first(uint32_t detail, uint64_t handle, int32_t root,
				const struct crit_shim_sizes *sizes, uint64_t request)
{
	if (crit_this_thread.is_recorded == CRIT_RECORDED_HELD)
		crit_span_publish_held(&crit_this_thread);
	crit_shim_collective(detail, handle, root, sizes, request);
}

void crit_shim_failed(uint32_t call, int32_t answer)
{
	if (is_traced(&crit_this_thread) && crit_this_thread.outer_frame &&
	    CRIT_CALL_OF(crit_this_thread.what) == call)
		crit_shim_detail(CRIT_D_FAILED, 0, 0, answer, 0, 0);
}

void crit_shim_lose_details(uint32_t count)
{
	if (is_traced(&crit_this_thread))
		crit_this_thread.details_lost += count;
}
