/* SPDX-License-Identifier: BSD-3-Clause */
/* Message events for a sink, with the communicators they belong to. */
#ifndef CRIT_MESSAGE_TRACE_H
#define CRIT_MESSAGE_TRACE_H

#include "analysis/mpi/communicators.h"
#include "analysis/schema/trace_message.h"
#include "analysis/schema/trace.h"
#include "core/abi/abi_shim.h"

struct crit_message_trace {
	const struct crit_message_sink *sink; /* NULL: nobody listens */
	const struct crit_communicators *communicators;
	uint64_t untold; /* messages with unknown ends or sizes, or in private communicators */
	bool is_whole; /* at the end: every message of the window was told */
	int error; /* the first of the sink's */
};

struct crit_message_event {
	uint32_t thread;
	uint32_t process;
	uint64_t time_ns;
	uint16_t call;
	struct crit_slot_detail what; /* comm as the process numbers it */
	uint64_t received_bytes; /* by a collective */
	uint64_t request;
};

/* One message. */
void crit_message_trace_emit(struct crit_message_trace *trace, enum crit_trace_message_kind kind,
			     const struct crit_message_event *event);

/*
 * Tells of all communicators of a run with ranks, whose members are known now; rank_rows as in
 * identity.h.  Errors: -ENOMEM, those of the sink.
 */
int crit_message_trace_finish(struct crit_message_trace *trace, const uint32_t *rank_rows);

#endif
