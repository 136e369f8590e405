// SPDX-License-Identifier: BSD-3-Clause
// Compares where a message's sender and its receiver waited for it.
#include "analysis/mpi/rendezvous.h"

#include <stdlib.h>

#include "core/base/array.h"
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

bool crit_help_ends_wait(uint64_t begin_ns, uint64_t end_ns, uint64_t left_ns, uint64_t help_ns)
{
	const uint64_t since_ns = begin_ns > left_ns ? begin_ns : left_ns;

	return help_ns < end_ns && help_ns >= since_ns + CRIT_HELP_QUIET_NS &&
	       end_ns - help_ns <= (help_ns - since_ns) / CRIT_HELP_QUIET_RATIO;
}

static bool has_helped(const struct crit_message_end *waiter, const struct crit_message_end *helper)
{
	return crit_help_ends_wait(waiter->begin_ns, waiter->end_ns, helper->left_ns,
				   helper->begin_ns);
}

/*
 * The receiver's act is the call that posts the receive or, where that call was over, the one that
 * completes it, if it began before the send was over; for where the receiver has to help, it does
 * so in a call.  is_met: it is known that the two had to meet.
 */
static void tell_send(struct crit_listeners *listeners, struct crit_edge edge,
		      const struct crit_message_end *send, const struct crit_message_end *receive,
		      bool is_met)
{
	const bool is_synchronous = send->mode == CRIT_SEND_SYNCHRONOUS;
	bool is_all;

	edge.cause_ns = receive->begin_ns < send->end_ns ? receive->begin_ns : receive->posted_ns;
	is_all = send->is_sole && edge.cause_ns > send->begin_ns && edge.cause_ns < send->end_ns;
	if (is_synchronous || is_all || is_met)
		edge.kind = CRIT_EDGE_RECEIVER;
	if (is_synchronous || (is_met && !is_all))
		edge.bytes = CRIT_EDGE_ANY_BYTES;
	tell(listeners, edge, send, receive);
}

/* A sender that has gone on from its request, and came back while its receiver waited. */
static bool is_back(const struct crit_message_end *send, const struct crit_message_end *receive)
{
	return send->begin_ns > send->posted_ns && send->begin_ns > receive->begin_ns &&
	       send->begin_ns < receive->end_ns;
}

void crit_rendezvous_tell(struct crit_listeners *listeners, uint32_t communicator,
			  const struct crit_message_end *send,
			  const struct crit_message_end *receive)
{
	struct crit_edge edge = { .object = communicator,
				  .bytes = send->bytes,
				  .kind = CRIT_EDGE_RENDEZVOUS };
	bool is_late, is_met;

	if (send->mode == CRIT_SEND_BUFFERED)
		return;
	is_late = is_back(send, receive);
	is_met = is_late ? has_helped(receive, send) : has_helped(send, receive);
	tell_send(listeners, edge, send, receive, is_met);
	if (!is_late)
		return;
	edge.cause_ns = send->begin_ns; /* it may have to help, too */
	if (is_met) {
		edge.kind = CRIT_EDGE_RECEIVER;
		edge.bytes = CRIT_EDGE_ANY_BYTES;
	}
	tell(listeners, edge, receive, send);
}

void crit_last_leaves_fini(struct crit_last_leaves *leaves)
{
	free(leaves->thread_ns);
	*leaves = (struct crit_last_leaves){ 0 };
}

int crit_last_leaves_note(struct crit_last_leaves *leaves, uint32_t thread, uint64_t leave_ns)
{
	int rc = crit_array_grow(&leaves->thread_ns, &leaves->capacity, thread + 1ull,
				 sizeof(*leaves->thread_ns));

	if (!rc)
		leaves->thread_ns[thread] = leave_ns;
	return rc;
}

uint64_t crit_last_leaves_of(const struct crit_last_leaves *leaves, uint32_t thread)
{
	return thread < leaves->capacity ? leaves->thread_ns[thread] : 0;
}
