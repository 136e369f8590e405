/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages and collectives of spans: decodes details, follows requests, adds up.
 *
 * Fed with each span's details when the span ends, spans of all ranks in order of time.  Memory:
 * O(calls + communicators and their members + pairs of ranks that talk + requests in flight).
 */
#ifndef CRIT_MESSAGES_H
#define CRIT_MESSAGES_H

#include "analysis/mpi/collectives.h"
#include "analysis/mpi/communicators.h"
#include "analysis/mpi/message_trace.h"
#include "analysis/mpi/match.h"
#include "analysis/mpi/rendezvous.h"
#include "analysis/mpi/requests.h"
#include "analysis/mpi/traffic.h"

struct crit_messages {
	struct crit_model *model;
	struct crit_communicators communicators;
	struct crit_collectives collectives;
	struct crit_requests requests;
	struct crit_traffic traffic;
	struct crit_match match;
	struct crit_mpi_returns returns; /* kept for edges of messages */
	struct crit_message_trace trace;
	struct crit_listeners *listeners;
	struct crit_message_losses losses;
	uint64_t lost_sends; /* that others were booked in the place of */
	uint64_t last_number; /* of requests */
};

struct crit_message_span { /* a span, and who made it */
	uint32_t thread;
	uint16_t call;
	uint64_t enter_ns;
	uint64_t leave_ns;
};

/*
 * sink: who is told of messages, NULL nobody; listeners: who is told of edges, all added by now.
 * Ownership: both are borrowed until fini.  Errors: -ENOMEM.
 */
int crit_messages_init(struct crit_messages *messages, struct crit_model *model,
		       const struct crit_message_sink *sink, struct crit_listeners *listeners);
void crit_messages_fini(struct crit_messages *messages);

/* The details of a span that ends.  Errors: -ENOMEM, those of the sink.  Cost: O(1) per slot. */
int crit_messages_take(struct crit_messages *messages, const struct crit_message_span *span,
		       const struct crit_slot *slots, size_t count);

#endif
