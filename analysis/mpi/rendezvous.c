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

/* A sender that has gone on from its request, and came back while its receiver waited. */
static bool is_back(const struct crit_message_end *send, const struct crit_message_end *receive)
{
	return send->begin_ns > send->posted_ns && send->begin_ns > receive->begin_ns &&
	       send->begin_ns < receive->end_ns;
}

/*
 * When a thread, whose own request was still active then, came back to another call, right before
 * its partner's wait ended; 0: it did not.
 */
static uint64_t helped_at(const struct crit_mpi_returns *returns,
			  const struct crit_message_end *waiter,
			  const struct crit_message_end *helper)
{
	const struct crit_thread_returns *thread;

	if (helper->thread >= returns->capacity || helper->begin_ns < waiter->end_ns)
		return 0;
	thread = &returns->threads[helper->thread];
	for (uint64_t i = 1; i <= thread->count && i <= CRIT_RETURNS; i++) {
		const struct crit_mpi_return *row =
			&thread->rows[(thread->count - i) % CRIT_RETURNS];

		if (row->back_ns >= waiter->end_ns)
			continue;
		return row->left_ns > helper->posted_ns &&
				       crit_help_ends_wait(waiter->begin_ns, waiter->end_ns,
							   row->left_ns, row->back_ns)
			       ? row->back_ns
			       : 0;
	}
	return 0;
}

/* One of the two was late to help in the call that completes its request, or in another one. */
struct help {
	uint64_t sender_ns, receiver_ns; /* when that one helped; 0: not, or as is_met says */
	bool is_late; /* the sender came back to its request */
	bool is_met; /* either needs the other */
};

static struct help find_help(const struct crit_mpi_returns *returns,
			     const struct crit_message_end *send,
			     const struct crit_message_end *receive)
{
	struct help help = { .is_late = is_back(send, receive) };

	help.is_met = help.is_late ? has_helped(receive, send) : has_helped(send, receive);
	if (help.is_late) {
		help.sender_ns = send->begin_ns;
	} else if (!help.is_met) {
		help.sender_ns = helped_at(returns, receive, send);
		help.receiver_ns = helped_at(returns, send, receive);
		help.is_met = help.sender_ns || help.receiver_ns;
	}
	return help;
}

/*
 * The receiver's act is the call that posts the receive or, where that call was over, the one that
 * completes it, if it began before the send was over; for where the receiver has to help, it does
 * so in a call.
 */
static void tell_send(struct crit_listeners *listeners, struct crit_edge edge,
		      const struct crit_message_end *send, const struct crit_message_end *receive,
		      const struct help *help)
{
	const bool is_synchronous = send->mode == CRIT_SEND_SYNCHRONOUS;
	bool is_all;

	edge.cause_ns = receive->begin_ns < send->end_ns ? receive->begin_ns : receive->posted_ns;
	if (help->receiver_ns)
		edge.cause_ns = help->receiver_ns;
	is_all = send->is_sole && edge.cause_ns > send->begin_ns && edge.cause_ns < send->end_ns;
	if (is_synchronous || is_all || help->is_met)
		edge.kind = CRIT_EDGE_RECEIVER;
	if (is_synchronous || (help->is_met && !is_all))
		edge.bytes = CRIT_EDGE_ANY_BYTES;
	tell(listeners, edge, send, receive);
}

void crit_rendezvous_tell(struct crit_listeners *listeners, const struct crit_mpi_returns *returns,
			  uint32_t communicator, const struct crit_message_end *send,
			  const struct crit_message_end *receive)
{
	struct crit_edge edge = { .object = communicator,
				  .bytes = send->bytes,
				  .kind = CRIT_EDGE_RENDEZVOUS };
	struct help help;

	if (send->mode == CRIT_SEND_BUFFERED)
		return;
	help = find_help(returns, send, receive);
	tell_send(listeners, edge, send, receive, &help);
	if (!help.sender_ns)
		return;
	edge.cause_ns = help.sender_ns; /* it may have to help, too */
	if (help.is_met) {
		edge.kind = CRIT_EDGE_RECEIVER;
		edge.bytes = CRIT_EDGE_ANY_BYTES;
	}
	tell(listeners, edge, receive, send);
}

void crit_mpi_returns_fini(struct crit_mpi_returns *returns)
{
	free(returns->threads);
	*returns = (struct crit_mpi_returns){ 0 };
}

int crit_mpi_returns_note(struct crit_mpi_returns *returns, uint32_t thread, uint64_t enter_ns,
			  uint64_t leave_ns)
{
	struct crit_thread_returns *of;
	int rc = crit_array_grow(&returns->threads, &returns->capacity, thread + 1ull,
				 sizeof(*returns->threads));

	if (rc)
		return rc;
	of = &returns->threads[thread];
	if (enter_ns >= of->left_ns + CRIT_HELP_QUIET_NS)
		of->rows[of->count++ % CRIT_RETURNS] =
			(struct crit_mpi_return){ .left_ns = of->left_ns, .back_ns = enter_ns };
	of->left_ns = leave_ns;
	return 0;
}

uint64_t crit_mpi_returns_left(const struct crit_mpi_returns *returns, uint32_t thread)
{
	return thread < returns->capacity ? returns->threads[thread].left_ns : 0;
}
