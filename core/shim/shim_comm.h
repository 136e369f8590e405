/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators and windows of this process: numbers, and names all members agree on. */
#ifndef CRIT_SHIM_COMM_H
#define CRIT_SHIM_COMM_H

#include <stdbool.h>
#include <stdint.h>

struct crit_comm;
struct crit_shim_thread;

struct crit_shim_comm {
	uint64_t hash; /* of the members alone */
	uint32_t flags; /* as in struct crit_slot_comm, like rank and size */
	uint32_t number; /* CRIT_COMM_WORLD, CRIT_COMM_SELF; 0: the next free one */
	uint32_t rank;
	uint32_t size;
	uint32_t peers; /* processes a collective reaches: size, or that of the remote group */
	uint64_t parent; /* handle, 0 none */
	bool is_of_all; /* all members of the parent took part */
};

#pragma GCC visibility push(default)

/*
 * A communicator or window was made: all members must say so in the same order, and of those that
 * all members of the parent make also who is not in them, with handle 0.  Ends what had the handle
 * before.  Threads: any.
 */
void crit_shim_comm_define(uint64_t handle, const struct crit_shim_comm *comm);

/* It is about to be freed; its handle may come back as another one. */
void crit_shim_comm_free(uint64_t handle);

/* NULL: unknown.  Borrowed; holds until it is freed. */
const struct crit_shim_comm *crit_shim_comm_find(uint64_t handle);

#pragma GCC visibility pop

/* Inside libcrit_core.so. */
#pragma GCC visibility push(hidden)

/* NULL: unknown. */
struct crit_comm *crit_comm_find(uint64_t handle);

/* Writes the COMM slot, unless that is done; answers known_as. */
uint32_t crit_comm_introduce(struct crit_shim_thread *thread, struct crit_comm *comm);

/* The recording of a fork's child has no COMM slot. */
void crit_comm_forget_slots(void);

#pragma GCC visibility pop

#endif
