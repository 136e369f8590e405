/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Edges of messages that are sent only once both ends are there, from where the two of them wait.
 *
 * A synchronous send needs its receiver always, a buffered one never.  Of others MPI does not say:
 * where a call completes nothing but one send and lasts until its receiver comes, that one ended
 * it; a send that was over before its receive was posted did not need it.  And where a wait of one
 * ends soon after the other, which had posted before and computed for long, came back to MPI, it
 * ended by that: the library of the other had to help, and did nothing meanwhile.  All else is told
 * with the size of the message, for a listener that knows from which size on sends have waited.
 *
 * What the other one came back to may be any call, as libraries move whatever there is: so when
 * threads come back is kept, for the time until their requests are complete.
 */
#ifndef CRIT_RENDEZVOUS_H
#define CRIT_RENDEZVOUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/account/listeners.h"

enum crit_send_mode {
	CRIT_SEND_STANDARD = 0, /* and ready */
	CRIT_SEND_SYNCHRONOUS,
	CRIT_SEND_BUFFERED
};

/* call: that sends, or makes the request. */
enum crit_send_mode crit_send_mode_of(unsigned int call);

struct crit_message_end { /* where the send or the receive of a message is waited for */
	uint64_t begin_ns; /* of the call */
	uint64_t end_ns; /* 0: its request is not complete */
	uint64_t posted_ns; /* enter of the call that posted it */
	uint64_t left_ns; /* when the thread left the call of MPI before, as far as is known */
	uint64_t bytes; /* of a send */
	uint32_t thread;
	uint16_t call;
	uint8_t mode; /* of a send: enum crit_send_mode */
	bool is_sole; /* the call completes nothing else */
};

#define CRIT_RETURNS 8u /* of a thread, the last ones */

struct crit_mpi_return { /* of a thread that was away from MPI for CRIT_HELP_QUIET_NS or more */
	uint64_t left_ns, back_ns;
};

struct crit_thread_returns {
	uint64_t left_ns; /* the last call that moved something; 0: there was none */
	uint64_t count; /* of returns, of which the last CRIT_RETURNS are kept */
	struct crit_mpi_return rows[CRIT_RETURNS];
};

/* When threads left calls that moved something, and came back to one; zeroed: none did. */
struct crit_mpi_returns {
	struct crit_thread_returns *threads;
	size_t capacity;
};

void crit_mpi_returns_fini(struct crit_mpi_returns *returns);
/* A call is over.  Errors: -ENOMEM. */
int crit_mpi_returns_note(struct crit_mpi_returns *returns, uint32_t thread, uint64_t enter_ns,
			  uint64_t leave_ns);
/* 0: it has left none. */
uint64_t crit_mpi_returns_left(const struct crit_mpi_returns *returns, uint32_t thread);

#define CRIT_HELP_QUIET_NS 20000u /* a helper was away from MPI at least that long, */
#define CRIT_HELP_QUIET_RATIO 4u /* and so many times as long as the wait went on after it came */

/*
 * Did a wait end because a helper entered MPI at help_ns, which had left it at left_ns?
 * Range: left_ns at most help_ns.
 */
bool crit_help_ends_wait(uint64_t begin_ns, uint64_t end_ns, uint64_t left_ns, uint64_t help_ns);

/* Tells who of the two needed the other; both are complete.  communicator: its number. */
void crit_rendezvous_tell(struct crit_listeners *listeners, const struct crit_mpi_returns *returns,
			  uint32_t communicator, const struct crit_message_end *send,
			  const struct crit_message_end *receive);

#endif
