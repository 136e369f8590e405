/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Edges of messages that are sent only once both ends are there, from where the two of them wait.
 *
 * A synchronous send needs its receiver always, a buffered one never.  Of others MPI does not say:
 * where a call completes nothing but one send and lasts until its receiver comes, that one ended
 * it; a send that was over before its receive was posted did not need it.  All else is told with
 * the size of the message, for a listener that knows from which size on sends have waited.
 */
#ifndef CRIT_RENDEZVOUS_H
#define CRIT_RENDEZVOUS_H

#include <stdbool.h>
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
	uint64_t bytes; /* of a send */
	uint32_t thread;
	uint16_t call;
	uint8_t mode; /* of a send: enum crit_send_mode */
	bool is_sole; /* the call completes nothing else */
};

/* Tells who of the two needed the other; both are complete.  communicator: its number. */
void crit_rendezvous_tell(struct crit_listeners *listeners, uint32_t communicator,
			  const struct crit_message_end *send,
			  const struct crit_message_end *receive);

#endif
