// SPDX-License-Identifier: BSD-3-Clause
// Compares where a message's sender and its receiver waited for it.
#include "analysis/mpi/rendezvous.h"

#include "core/base/call.h"

enum crit_send_mode crit_send_mode_of(unsigned int call)
{
	switch (call) {
	case CRIT_MPI_Ssend:
	case CRIT_MPI_Ssend_c:
	case CRIT_MPI_Ssend_init:
	case CRIT_MPI_Ssend_init_c:
	case CRIT_MPI_Issend:
	case CRIT_MPI_Issend_c:
		return CRIT_SEND_SYNCHRONOUS;
	case CRIT_MPI_Bsend:
	case CRIT_MPI_Bsend_c:
	case CRIT_MPI_Bsend_init:
	case CRIT_MPI_Bsend_init_c:
	case CRIT_MPI_Ibsend:
	case CRIT_MPI_Ibsend_c:
		return CRIT_SEND_BUFFERED;
	default:
		return CRIT_SEND_STANDARD;
	}
}

static void tell(struct crit_listeners *listeners, struct crit_edge edge,
		 const struct crit_message_end *waiter, const struct crit_message_end *cause)
{
	edge.begin_ns = waiter->begin_ns;
	edge.end_ns = waiter->end_ns;
	edge.waiter = waiter->thread;
	edge.cause = cause->thread;
	edge.call = waiter->call;
	crit_listeners_tell_edge(listeners, &edge);
}

/*
 * The receiver's act is the call that posts the receive or, where that call was over, the one that
 * completes it, if it began before the send was over; for where the receiver has to help, it does
 * so in a call.
 */
static void tell_send(struct crit_listeners *listeners, struct crit_edge edge,
		      const struct crit_message_end *send, const struct crit_message_end *receive)
{
	const bool is_synchronous = send->mode == CRIT_SEND_SYNCHRONOUS;

	edge.cause_ns = receive->begin_ns < send->end_ns ? receive->begin_ns : receive->posted_ns;
	if (is_synchronous ||
	    (send->is_sole && edge.cause_ns > send->begin_ns && edge.cause_ns < send->end_ns))
		edge.kind = CRIT_EDGE_RECEIVER;
	if (is_synchronous)
		edge.bytes = CRIT_EDGE_ANY_BYTES;
	tell(listeners, edge, send, receive);
}

void crit_rendezvous_tell(struct crit_listeners *listeners, uint32_t communicator,
			  const struct crit_message_end *send,
			  const struct crit_message_end *receive)
{
	const struct crit_edge edge = { .object = communicator,
					.bytes = send->bytes,
					.kind = CRIT_EDGE_RENDEZVOUS };

	if (send->mode == CRIT_SEND_BUFFERED)
		return;
	tell_send(listeners, edge, send, receive);
	/* a sender that has gone on from its request may have to help, too */
	if (send->begin_ns > send->posted_ns && send->begin_ns > receive->begin_ns &&
	    send->begin_ns < receive->end_ns) {
		struct crit_edge late = edge;

		late.cause_ns = send->begin_ns;
		tell(listeners, late, receive, send);
	}
}
