/* SPDX-License-Identifier: BSD-3-Clause */
/* Details of the open span and the communicators they name, on a thread's hot path. */
#ifndef CRIT_SHIM_COMM_H
#define CRIT_SHIM_COMM_H

#include "core/shim/shim_span.h"

struct crit_comm {
	_Atomic uint64_t handle;
	struct crit_shim_comm what;
	uint64_t hash; /* with nth: its name in all processes */
	uint32_t nth;
	uint32_t children; /* made of it by all its members */
	uint32_t parent; /* number */
	_Atomic uint32_t known_as; /* its number when its COMM slot is written, else 0 */
	uint32_t collectives; /* so far */
};

/*
 * Slots for details of the open span, behind those that are there already, unpublished; keeps the
 * room of what ends the span.  NULL: no room.
 */
static inline struct crit_slot *crit_span_add(struct crit_shim_thread *thread, uint32_t slots)
{
	const uint64_t ahead = (thread->is_recorded == CRIT_RECORDED_HELD) + thread->pending;

	/* a LEAVE takes one slot, a POLL two */
	if (CRIT_UNLIKELY(
		    !crit_span_has_room(thread, ahead + slots + (thread->is_recorded ? 1 : 2))))
		return NULL;
	thread->pending += slots;
	return crit_span_slot_at(thread, thread->write_pos + ahead);
}

/* NULL: unknown. */
CRIT_HIDDEN struct crit_comm *crit_comm_find(uint64_t handle);

/* Writes the COMM slot, unless that is done; answers known_as. */
CRIT_HIDDEN uint32_t crit_comm_introduce(struct crit_shim_thread *thread, struct crit_comm *comm);

/* The communicator's number, 0 when the recording does not know it. */
static inline uint32_t crit_comm_number(struct crit_shim_thread *thread, uint64_t handle)
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

#endif
