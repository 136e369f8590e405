/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An edge: one thread waits in a call, another one does what ends such a wait.
 *
 * Told to listeners of a replay (event.h) whether the waiter lost time or not:
 * where cause_ns is before begin_ns the cause was there first.  Threads in the window and outside
 * are told of alike.  An edge is told only where both its ends were recorded.  Not known so far:
 *   - messages and collectives of a rank without shim, or whose details were lost.  Where
 *     results->messages.has_order is false, a message's edge may name a neighbour of its send;
 *   - messages in MPI_COMM_SELF;
 *   - messages of threads that send side by side on one way (analysis/mpi/match.h);
 *   - barriers and locks where level profile keeps short waits from the recording;
 *   - wakeups by interrupts, and by tasks outside the run.  Before Linux 5.15, and in recordings
 *     older than wakers, only wakeups of new threads, by their creators, have an edge.
 *
 * Where several processes analyse one run, that of rank 0 is told of messages and collectives, and
 * each of the barriers, locks and wakeups of its nodes: together what one process is told.
 */
#ifndef CRIT_EDGE_H
#define CRIT_EDGE_H

#include <stdbool.h>
#include <stdint.h>

enum crit_edge_kind {
	CRIT_EDGE_NONE = 0,
	CRIT_EDGE_MESSAGE, /* a receive, and the k-th send for the k-th receive of a way */
	/*
	 * A send that was all its call had to complete, and lasted until its receive was posted, or
	 * its receiver came; each synchronous send; and, of any bytes, either side of a message of
	 * which one ended right after the other came back to it (mpi/rendezvous.h).
	 */
	CRIT_EDGE_RECEIVER,
	CRIT_EDGE_COLLECTIVE, /* a member, and the one it needed that entered or came back last */
	CRIT_EDGE_BARRIER, /* a thread of a team, and the one that arrived last */
	CRIT_EDGE_LOCK, /* who acquires a lock, and who released it */
	CRIT_EDGE_WAKEUP, /* a thread that was blocked, and its waker */
	CRIT_EDGE_TASK, /* who waits for tasks of OpenMP, and who ended the last one */
	CRIT_EDGE_PAIR_COUNT, /* so far: who waits, and who ends that */
	/*
	 * Of a collective operation or a barrier that needs more than one member: each member as it
	 * arrives (waiter and cause), end_ns being when the last one does; and each member that
	 * waits for all those who arrived until cause_ns, itself among them, where no other edge
	 * says that of it.
	 */
	CRIT_EDGE_ARRIVAL = CRIT_EDGE_PAIR_COUNT,
	CRIT_EDGE_MEETING,
	/*
	 * Of a lock, whose number is the object, at end_ns by the waiter, which is the cause: it
	 * begins to wait; it has it, having asked at begin_ns; it gives it back; it waits no more,
	 * or has it no more, and when that was nobody knows.
	 */
	CRIT_EDGE_LOCK_ASKED,
	CRIT_EDGE_LOCK_TAKEN,
	CRIT_EDGE_LOCK_RELEASED,
	CRIT_EDGE_LOCK_LOST,
	/*
	 * Any other send but a buffered one, whose receiver acted at cause_ns, from end_ns on where
	 * the send did not need that; and a receive that was not over when its sender began to wait
	 * for the send, or help it.  One needs the other where messages of that size do.
	 */
	CRIT_EDGE_RENDEZVOUS,
	CRIT_EDGE_KIND_COUNT
};

#define CRIT_EDGE_TEAM UINT32_MAX /* place: of the threads of a parallel region */
#define CRIT_EDGE_ANY_BYTES UINT64_MAX /* not known, or of no matter */

struct crit_edge {
	/* Run clock: the waiter is in a call, in a barrier, or blocked. */
	uint64_t begin_ns, end_ns;
	/* Enter of the call that sends, receives or starts it; arrival; release; wakeup. */
	uint64_t cause_ns;
	/*
	 * The communicator's number (trace.h); the parallel region's instance; the lock; ARRIVAL,
	 * MEETING, LOCK_*: a number for each, in the order in which they are told; others: 0.
	 */
	uint64_t object;
	/* COLLECTIVE, BARRIER: of a MEETING of the waiter that is not told; 0: there is none */
	uint64_t meeting;
	/* MESSAGE: k, in the order in which sends of this way were told; others: 0. */
	uint64_t send_number;
	uint64_t bytes; /* RECEIVER, RENDEZVOUS: of the message */
	/*
	 * MESSAGE: a receive of this rank with a lower number was posted earlier; of equal ones
	 * that with the lower send_number.  Receives pair as they complete, but MPI matches them
	 * as they were posted: for that, sort the receives of a way by this number.
	 */
	uint64_t receive_number;
	/* ARRIVAL of who waits for all others: the communicator, 1 more; CRIT_EDGE_TEAM; else 0 */
	uint32_t place;
	uint32_t waiter, cause; /* rows of results->threads */
	uint16_t call; /* that the waiter is in; WAKEUP: 0 */
	uint8_t kind; /* enum crit_edge_kind */
	/* MESSAGE: of any source, by a request; of a blocking receive nobody knows */
	bool is_from_any;
};

#endif
