/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Last arrivals at collective operations, from the enter times of the members.
 *
 * The n-th collective on a communicator is the n-th on all its members.  Only the open ones are
 * kept: each counts who arrived and who has moved on without arriving, and closes when that is
 * everybody, or when it is CRIT_COLLECTIVES_OPEN behind the newest.
 *
 * Level profile does not record who waits less than tau.  Where nobody can leave before all have
 * arrived, the only member missing is therefore the last one: it came at the latest when the first
 * one left.
 */
#ifndef CRIT_COLLECTIVES_H
#define CRIT_COLLECTIVES_H

#include "analysis/mpi/communicators.h"
#include "analysis/mpi/meetings.h"

#define CRIT_COLLECTIVES_OPEN 4096u /* per communicator */
#define CRIT_COLLECTIVES_ALL (1u << 20) /* on all of them together */

struct crit_collective_state { /* of one communicator */
	struct crit_collective *ring; /* by sequence number */
	uint32_t size; /* of the ring: a power of two, or 0 */
	uint32_t first; /* sequence number of the oldest open one */
	uint32_t span; /* from it to the newest */
};

struct crit_collective_last {
	uint32_t row;
	uint32_t member;
	struct crit_last_row sums; /* rank_row is set when results are filled */
};

struct crit_collectives {
	struct crit_communicators *communicators;
	struct crit_collective_state *states; /* by communicator */
	size_t state_count;
	struct crit_collective_row *rows; /* in order of appearance */
	size_t row_count, row_capacity;
	struct crit_map row_places; /* communicator, call -> row */
	struct crit_collective_last *lasts;
	size_t last_count, last_capacity;
	struct crit_map last_places; /* row, member -> last */
	size_t ring_cells; /* of all rings */
	uint64_t late_arrivals;
	struct crit_meetings meetings;
};

struct crit_arrival {
	uint32_t communicator;
	uint32_t member; /* who, CRIT_NONE: only the visit counts */
	int32_t sequence; /* -1: none */
	int32_t root; /* rank in the communicator, CRIT_PEER_ROOT; less than 0: none, or another */
	uint32_t thread; /* that tells of it */
	uint16_t call;
	uint64_t enter_ns;
	uint64_t leave_ns; /* UINT64_MAX: it goes on */
	uint64_t sent_bytes; /* CRIT_BYTES_UNKNOWN: 0 */
	uint64_t received_bytes;
};

/* Ownership: both are borrowed until fini.  listeners: who is told of edges, NULL nobody. */
void crit_collectives_init(struct crit_collectives *all, struct crit_communicators *communicators,
			   struct crit_listeners *listeners);
void crit_collectives_fini(struct crit_collectives *all);

/* A member took part.  Errors: -ENOMEM.  Cost: O(1), amortised. */
int crit_collectives_arrive(struct crit_collectives *all, const struct crit_arrival *arrival);

/* Closes what is still open.  Errors: -ENOMEM. */
int crit_collectives_finish(struct crit_collectives *all);

#endif
