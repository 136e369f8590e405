/* SPDX-License-Identifier: BSD-3-Clause */
/* What an emitter knows, for those whose events it emits. */
#ifndef CRIT_EMITTER_STATE_H
#define CRIT_EMITTER_STATE_H

#include <stdint.h>

#include "analysis/schema/trace.h"

struct crit_emitter_queue;
struct crit_emitter_thread;
struct crit_model;

struct crit_emitter {
	const struct crit_trace_sink *sink;
	const struct crit_model *model;
	const struct crit_emitter_queue *queue;
	const uint32_t *thread_rows; /* thread -> row of threads */
	struct crit_emitter_thread **threads; /* by thread; NULL: not told of now */
	uint64_t begin_ns, end_ns;
	int error; /* the first answer of the sink that was none */
};

/* Keeps the first error there was.  Returns it. */
static inline int crit_emitter_keep_error(struct crit_emitter *emitter, int rc)
{
	if (rc < 0 && !emitter->error)
		emitter->error = rc;
	return emitter->error;
}

#endif
