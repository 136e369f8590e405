/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a shim says about a span beyond its call: messages, collectives, files, and the
 * communicators and windows they are made on.  Handles are MPI's, as 64-bit numbers.
 */
#ifndef CRIT_SHIM_DETAIL_H
#define CRIT_SHIM_DETAIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/abi/abi_shim.h"

#define CRIT_SHIM_SCRATCH_MAX (32u << 20)

/* What a wrapper is to the open span, as bits. */
enum crit_shim_role {
	CRIT_SHIM_NESTED = 0, /* nothing: forward the call */
	CRIT_SHIM_OUTER = 1, /* it began the span, and ends it */
	CRIT_SHIM_CALLER = 2, /* it has the arguments of the application's own call */
	CRIT_SHIM_TRACE = 4 /* details of all kinds are wanted */
};

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

struct crit_shim_sizes { /* of a collective's part in this process */
	uint64_t sent_bytes;
	uint64_t received_bytes;
};

#pragma GCC visibility push(default)

/*
 * crit_shim_enter and crit_shim_poll_enter for calls with details.  With CRIT_SHIM_OUTER in the
 * answer the span ends by crit_shim_leave or crit_shim_poll_leave; details come before that.
 */
unsigned int crit_shim_enter_detailed(uint32_t what, const void *frame, const void *site);
unsigned int crit_shim_poll_enter_detailed(uint32_t what, const void *frame, const void *site);

/*
 * One detail of the open span; without room it is counted as lost.  At level profile bytes go to
 * the counter of a call that is counted.  detail: enum crit_detail.  comm: handle, 0 none.
 */
void crit_shim_detail(uint32_t detail, uint64_t comm, int32_t peer, int32_t tag, uint64_t bytes,
		      uint64_t request);

/*
 * The detail of a collective call on comm.  Every such call of the process must come here, recorded
 * or not: they are counted by communicator.
 */
void crit_shim_collective(uint32_t detail, uint64_t comm, int32_t root,
			  const struct crit_shim_sizes *sizes, uint64_t request);

/* The call, by its number, returned an error; recorded where the open span is that call's. */
void crit_shim_failed(uint32_t call, int32_t answer) __attribute__((cold));

/* So many details of the open span are lost. */
void crit_shim_lose_details(uint32_t count);

/*
 * At least so many bytes that belong to the calling thread, for one wrapper at a time; NULL: there
 * is no memory, or CRIT_SHIM_SCRATCH_MAX is less.  Cost: a mapping when a thread asks for more than
 * ever before, twice as much each time.
 */
void *crit_shim_scratch(size_t bytes);

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

#endif
