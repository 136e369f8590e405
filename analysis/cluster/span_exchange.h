/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spans with details, which one process decodes: in each round those of all nodes go to process 0,
 * and it takes them in order of time and node.
 */
#ifndef CRIT_SPAN_EXCHANGE_H
#define CRIT_SPAN_EXCHANGE_H

#include "analysis/cluster/transport.h"
#include "analysis/cluster/pending.h"
#include "analysis/model/model.h"
#include "analysis/mpi/messages.h"

struct crit_span_exchange {
	const struct crit_transport *transport;
	const struct crit_model *model;
	struct crit_messages *messages; /* of process 0: takes what spans of all nodes did */
	struct crit_pending *pending; /* NULL: nobody listens */
	struct crit_exchange_buffer spans; /* replayed, not yet sent */
	struct crit_slot *slots; /* of one span, while it is taken */
	size_t slot_capacity;
};

void crit_span_exchange_fini(struct crit_span_exchange *exchange);

/* What a span did.  Errors: -ENOMEM. */
int crit_span_exchange_add(struct crit_span_exchange *exchange,
			   const struct crit_message_span *span, const struct crit_slot *slots,
			   size_t count);

/* Moves the spans that ended before end_ns to what process 0 gets.  Errors: -ENOMEM. */
int crit_span_exchange_pack(struct crit_span_exchange *exchange, uint64_t end_ns,
			    struct crit_exchange_buffer *to);

/*
 * On process 0: takes what came, each process's from ats on; messages go behind its answer.
 * Errors: -ENOMEM, -EPROTO.
 */
int crit_span_exchange_take(struct crit_span_exchange *exchange,
			    const struct crit_exchange_buffer *from, const size_t *ats,
			    struct crit_exchange_buffer *answers);

#endif
