/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Edges of collective operations: from each member to the one it had to wait for.
 *
 * That is the member that entered last of those whose data it needs: all of them, in a broadcast
 * or scatter the root, as the root of a reduction or gather all others, in a scan those before it.
 * Of operations in which a member may need only some, one that entered after it has left is no
 * cause.  Who left a scan right after one entered that it does not need by the data needed that
 * one, as some libraries exchange.  Scans by requests have no such edges.
 *
 * Of an operation by requests a member waited as well for one that computed when it began to wait,
 * and came back to its own request right before the wait ended: until then its library did nothing.
 *
 * Where all are needed, or all others by the root, arrivals and who needs them are told besides.
 *
 * A collective operation is a meeting, from the first member that tells of it until it is closed
 * and the last request of it is complete.  Nothing is kept unless a listener wants these edges.
 *
 * Memory: members of open meetings, CRIT_MEETING_MEMBERS_MAX at most; more have no edges.
 */
#ifndef CRIT_MEETINGS_H
#define CRIT_MEETINGS_H

#include "analysis/account/listeners.h"
#include "core/base/index.h"

#define CRIT_MEETING_MEMBERS_MAX (1u << 22)

struct crit_meetings {
	struct crit_listeners *listeners; /* NULL: nobody wants edges, and nobody arrives */
	struct crit_meeting *rows;
	size_t count, capacity;
	uint32_t free; /* list */
	struct crit_index places; /* communicator and sequence -> row */
	size_t member_count; /* of all */
	uint64_t told; /* whose arrivals were told */
	uint16_t operation; /* that was met at last; 0: none */
	uint8_t flow; /* of that */
};

struct crit_attendance { /* of a member at a collective operation */
	uint32_t communicator;
	uint32_t sequence;
	uint32_t member;
	uint32_t thread; /* that enters the operation; only said on arrival, like the next four */
	uint32_t number; /* its rank in the communicator */
	bool is_root;
	uint16_t operation; /* the call that starts it */
	uint64_t enter_ns;
	uint32_t waiter; /* thread that waits: the same, or that which completes the request */
	uint64_t begin_ns; /* of the call it waits in */
	uint64_t end_ns; /* UINT64_MAX: the request is not complete */
	uint64_t left_ns; /* of a request: when that thread left the call of MPI before */
	uint16_t call; /* that it waits in */
};

/* listeners: borrowed until fini; of edges of collective operations, arrivals and meetings. */
void crit_meetings_init(struct crit_meetings *meetings, struct crit_listeners *listeners);
void crit_meetings_fini(struct crit_meetings *meetings);

/* A member has entered.  Errors: -ENOMEM. */
int crit_meetings_arrive(struct crit_meetings *meetings, const struct crit_attendance *attendance);

/* The request of a member that arrived is complete. */
void crit_meetings_complete(struct crit_meetings *meetings,
			    const struct crit_attendance *attendance);

/*
 * Nobody arrives any more.  last: the member that came last, CRIT_NONE where one is missing.
 * Errors: -ENOMEM.
 */
int crit_meetings_close(struct crit_meetings *meetings, uint32_t communicator, uint32_t sequence,
			uint32_t last);

#endif
