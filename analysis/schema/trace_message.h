/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages, collective operations and communicators, as a sink is told of them (trace.h). */
#ifndef CRIT_TRACE_MESSAGE_H
#define CRIT_TRACE_MESSAGE_H

#include <stdint.h>

#define CRIT_TRACE_NONE 0xffffffffu /* no root: a collective without one */
#define CRIT_TRACE_ROOT_SELF 0xfffffffeu /* intercommunicator: MPI_ROOT */
#define CRIT_TRACE_ROOT_GROUP 0xfffffffdu /* intercommunicator, root's side: MPI_PROC_NULL */

enum crit_trace_message_kind {
	CRIT_TRACE_MESSAGE_NONE = 0,
	CRIT_TRACE_SEND, /* blocking; stamped as its span begins */
	CRIT_TRACE_ISEND, /* request */
	CRIT_TRACE_ISEND_COMPLETE, /* request only */
	CRIT_TRACE_IRECV_REQUEST, /* request only: a receive was posted */
	CRIT_TRACE_IRECV, /* request: it is complete; peer, tag and bytes of the status */
	CRIT_TRACE_RECV, /* blocking; peer, tag and bytes of the status */
	CRIT_TRACE_REQUEST_TEST, /* request only: a test failed */
	CRIT_TRACE_REQUEST_CANCELLED, /* request only */
	CRIT_TRACE_COLLECTIVE_BEGIN, /* call only */
	CRIT_TRACE_COLLECTIVE_END, /* call, root, bytes sent and received */
	CRIT_TRACE_COLLECTIVE_REQUEST, /* request only: a non-blocking one was started */
	CRIT_TRACE_COLLECTIVE_COMPLETE, /* call of its start, root, bytes, request */
	CRIT_TRACE_MESSAGE_KIND_COUNT
};

/* What a span did, told when it ends and before its leave; stamps from its enter to its leave. */
struct crit_trace_message {
	enum crit_trace_message_kind kind;
	uint16_t call;
	uint32_t communicator; /* number */
	uint32_t peer; /* rank in the communicator; root of a collective, or CRIT_TRACE_NONE */
	uint32_t tag;
	uint64_t bytes; /* of a message; sent by a collective */
	uint64_t received_bytes; /* by a collective */
	uint64_t request; /* unique in its process for the whole run, from 1 */
};

enum crit_trace_communicator_kind {
	CRIT_TRACE_COMM_WORLD = 0, /* world is its number; members follow from the ranks */
	CRIT_TRACE_COMM_SELF, /* MPI_COMM_SELF, one for all ranks */
	CRIT_TRACE_COMM_INTRA,
	CRIT_TRACE_COMM_INTER
};

/*
 * Communicators are told in order of their numbers, from 0 without a gap, when all spans are told:
 * their members are known by then.  Messages name them before.
 */
struct crit_trace_communicator {
	enum crit_trace_communicator_kind kind;
	uint32_t world; /* kind WORLD: results->ranks[].world_number */
	uint32_t parent; /* number, or CRIT_TRACE_NONE */
	const char *name; /* NULL or "": none was given */
	/* INTRA, INTER: rows of ranks, in order of rank; CRIT_TRACE_NONE: not known */
	const uint32_t *members;
	uint32_t member_count;
	const uint32_t *remote_members; /* INTER */
	uint32_t remote_member_count;
};

struct crit_message_sink { /* who is told; thread: of the model.  Errors end the analysis */
	void *user;
	int (*message)(void *user, uint32_t thread, uint64_t time_ns,
		       const struct crit_trace_message *message);
	int (*communicator)(void *user, const struct crit_trace_communicator *communicator);
};

#endif
