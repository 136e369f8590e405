/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages and communicators as they are decoded, before it is known who is told of them. */
#ifndef CRIT_MESSAGE_SINK_H
#define CRIT_MESSAGE_SINK_H

#include <stdint.h>

#include "analysis/schema/trace.h"

struct crit_message_sink { /* who is told; thread: of the model.  Errors end the analysis */
	void *user;
	int (*message)(void *user, uint32_t thread, uint64_t time_ns,
		       const struct crit_trace_message *message);
	int (*communicator)(void *user, const struct crit_trace_communicator *communicator);
};

#endif
