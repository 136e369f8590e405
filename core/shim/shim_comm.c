// SPDX-License-Identifier: BSD-3-Clause
// Communicators and windows of this process: numbered when they are made, found without a lock.
//
// Their order of creation, which is what two processes agree on, is kept here whether or not
// anything is recorded; the COMM slot that tells it is written at creation, or at the first use
// that finds room.
#include "core/shim/shim_comm.h"

#include "core/base/hash.h"
#include "core/shim/shim_ring.h"
#include "core/shim/shim_span.h"

#define COMMS 4096 /* at a time */
#define HASHES 4096 /* sets of members seen */
#define PROBES 64
#define HANDLE_FREED 1u /* no handle has these values; 0: never used */
#define HANDLE_TAKEN 2u

struct comm_row { /* one communicator or window */
	struct crit_comm comm; /* first: others know a row by it */
	struct crit_shim_comm what;
	uint64_t hash; /* with nth: its name in all processes */
	uint32_t nth;
	uint32_t children; /* made of it by all its members */
	uint32_t parent; /* number */
};

struct members { /* one set of members, and how many communicators it had */
	_Atomic uint64_t hash;
	_Atomic uint32_t count;
};

static struct comm_row comms[COMMS];
static struct members sets[HASHES];
static _Atomic uint32_t numbers; /* given so far, beyond the two fixed ones */
static _Atomic bool has_comms;

static uint32_t place_of(uint64_t value, uint32_t places)
{
	return crit_hash_place(crit_hash_mix(0, value), places);
}

static struct comm_row *find(uint64_t handle)
{
	uint32_t place = place_of(handle, COMMS);

	for (int probe = 0; handle > HANDLE_TAKEN && probe < PROBES; probe++) {
		const uint64_t there =
			atomic_load_explicit(&comms[place].comm.handle, memory_order_acquire);

		if (there == handle)
			return &comms[place];
		if (!there)
			return NULL;
		place = (place + 1) % COMMS;
	}
	return NULL;
}

struct crit_comm *crit_comm_find(uint64_t handle)
{
	struct comm_row *row = find(handle);

	return row ? &row->comm : NULL;
}

static struct comm_row *take_place(uint64_t handle)
{
	uint32_t place = place_of(handle, COMMS);

	for (int probe = 0; probe < PROBES; probe++) {
		uint64_t there =
			atomic_load_explicit(&comms[place].comm.handle, memory_order_relaxed);

		if (there <= HANDLE_FREED &&
		    atomic_compare_exchange_strong(&comms[place].comm.handle, &there, HANDLE_TAKEN))
			return &comms[place];
		place = (place + 1) % COMMS;
	}
	return NULL;
}

/* How many communicators with these members came before. */
static bool count_members(uint64_t hash, uint32_t *ret_nth)
{
	uint32_t place = place_of(hash, HASHES);

	for (int probe = 0; probe < PROBES; probe++) {
		uint64_t there = 0;

		if (atomic_compare_exchange_strong(&sets[place].hash, &there, hash) ||
		    there == hash) {
			*ret_nth = atomic_fetch_add(&sets[place].count, 1);
			return true;
		}
		place = (place + 1) % HASHES;
	}
	return false;
}

/*
 * In an open span that is traced: with its details.  Else at once, after an ENTER that was held
 * back: a span that makes a communicator is not folded.
 */
static bool write_slot(struct crit_shim_thread *thread, const struct crit_slot_comm *slot)
{
	uint64_t position;
	bool is_detail;

	if (!thread->buffer || thread->level == CRIT_LEVEL_NONE)
		return false;
	if (thread->is_recorded == CRIT_RECORDED_HELD)
		crit_span_publish_held(thread);
	position = thread->write_pos;
	is_detail = thread->is_recorded || thread->pending;
	if (is_detail ? !crit_span_add(thread, 1, &position) : !crit_span_has_room(thread, 1))
		return false;
	*(struct crit_slot_comm *)(void *)crit_span_slot_at(thread, position) = *slot;
	if (!is_detail)
		crit_span_publish_unstamped(thread, position + 1);
	return true;
}

uint32_t crit_comm_introduce(struct crit_shim_thread *thread, struct crit_comm *comm)
{
	const struct comm_row *row = (const struct comm_row *)comm;
	const struct crit_slot_comm slot = {
		.hash = row->hash,
		.kind = CRIT_S_COMM,
		.slots = 1,
		.flags = (__u16)row->what.flags,
		.comm = row->what.number,
		.nth = row->nth,
		.parent = (__s32)row->parent,
		.rank = row->what.rank,
		.size = row->what.size,
	};

	if (!comm->known_as && write_slot(thread, &slot))
		comm->known_as = row->what.number;
	return comm->known_as;
}

void crit_comm_forget_slots(void)
{
	for (uint32_t place = 0; has_comms && place < COMMS; place++)
		if (comms[place].comm.known_as)
			comms[place].comm.known_as = 0;
}

/*
 * MPI puts what all members of a communicator do on it into one order, so its children may be
 * counted; for others with the same members there is only the order in which they are made.
 */
static bool name_comm(const struct crit_shim_comm *what, struct comm_row *parent,
		      uint64_t *ret_hash, uint32_t *ret_nth)
{
	if (parent && what->is_of_all) {
		*ret_hash = crit_hash_mix(crit_hash_mix(parent->hash, parent->nth), what->hash);
		*ret_nth = parent->children++;
		return true;
	}
	*ret_hash = what->hash;
	return count_members(what->hash, ret_nth);
}

void crit_shim_comm_define(uint64_t handle, const struct crit_shim_comm *what)
{
	struct comm_row *parent = find(what->parent);
	struct comm_row *row;
	uint64_t hash;
	uint32_t nth;

	crit_shim_comm_free(handle); /* freed where we did not see it */
	if (!name_comm(what, parent, &hash, &nth) || !handle)
		return;
	row = take_place(handle);
	if (!row)
		return;
	has_comms = true;
	row->what = *what;
	if (!what->number)
		row->what.number = CRIT_COMM_SELF + 1 + numbers++;
	row->hash = hash;
	row->nth = nth;
	row->children = 0;
	row->parent = parent ? parent->what.number : 0;
	row->comm.known_as = 0;
	row->comm.collectives = 0;
	atomic_store_explicit(&row->comm.handle, handle, memory_order_release);
	(void)crit_comm_introduce(&crit_this_thread, &row->comm); /* else at its first use */
}

void crit_shim_comm_free(uint64_t handle)
{
	struct crit_comm *comm = crit_comm_find(handle);
	struct crit_slot_comm slot = { .kind = CRIT_S_COMM,
				       .slots = 1,
				       .flags = CRIT_COMM_IS_FREED };

	if (!comm)
		return;
	slot.comm = comm->known_as;
	if (slot.comm)
		(void)write_slot(&crit_this_thread, &slot); /* numbers are not used again */
	atomic_store_explicit(&comm->handle, HANDLE_FREED, memory_order_release);
}

const struct crit_shim_comm *crit_shim_comm_find(uint64_t handle)
{
	struct crit_comm *comm = crit_this_thread.comm;

	if (CRIT_UNLIKELY(!comm || comm->handle != handle))
		comm = crit_comm_find(handle);
	crit_this_thread.comm = comm;
	return comm ? &((const struct comm_row *)comm)->what : NULL;
}
