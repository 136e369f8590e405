/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Listens to the engine for a sink: which threads are told of, and when their spans change.
 *
 * The emitter tells the sink, and works out what each span earned.
 */
#ifndef CRIT_TRACER_H
#define CRIT_TRACER_H

#include "analysis/account/engine.h"
#include "analysis/replay/emitter.h"
#include "analysis/replay/tracer_setup.h"

struct crit_tracer {
	struct crit_emitter emitter;
	struct crit_tracer_setups setups;
	const struct crit_engine *engine;
	struct crit_results *run; /* what the sink's begin() is told */
	struct crit_tracer_view *views; /* by thread: the same when its last event came */
};

/*
 * Begins to listen to an engine that has replayed nothing yet.  Cost of an event: O(1), O(depth)
 * where a thread ends.  queue: as of the emitter.
 * Ownership: sink, engine, identity and queue are borrowed until fini, also after an error.
 * Errors: -ENOMEM, -ENOSPC.
 */
int crit_tracer_init(struct crit_tracer *tracer, struct crit_engine *engine,
		     const struct crit_identity *identity, const struct crit_trace_sink *sink,
		     const struct crit_emitter_queue *queue);
void crit_tracer_fini(struct crit_tracer *tracer);

/* Tells the sink that it begins.  Errors: those of the sink. */
int crit_tracer_begin(struct crit_tracer *tracer);

/*
 * Ends MPI_Init and MPI_Finalize that are still open; before processes agree that all went well.
 * Errors: the first of the sink's, -ENOMEM.
 */
int crit_tracer_end_setups(struct crit_tracer *tracer);

/* Tells the sink of the end.  Errors: the same. */
int crit_tracer_end(struct crit_tracer *tracer, const struct crit_results *results,
		    bool are_messages_whole);

#endif
