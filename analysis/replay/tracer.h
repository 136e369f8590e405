/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Listens to the engine for a sink: which threads are told of, and when their spans change.
 *
 * The emitter tells the sink, and works out what each span earned.
 */
#ifndef CRIT_TRACER_H
#define CRIT_TRACER_H

#include <stdbool.h>
#include <stdint.h>

struct crit_emitter;
struct crit_emitter_queue;
struct crit_engine;
struct crit_identity;
struct crit_results;
struct crit_trace_sample;
struct crit_trace_sink;
struct crit_tracer;

/*
 * Begins to listen to an engine that has replayed nothing yet.  Cost of an event: O(1), O(depth)
 * where a thread ends.  queue: as of the emitter.
 * Ownership: sink, engine, identity and queue are borrowed until destroy, which accepts NULL; the
 * engine also after an error: it then replays nothing.  Errors: -ENOMEM, -ENOSPC.
 */
int crit_tracer_create(struct crit_engine *engine, const struct crit_identity *identity,
		       const struct crit_trace_sink *sink, const struct crit_emitter_queue *queue,
		       struct crit_tracer **ret_tracer);
void crit_tracer_destroy(struct crit_tracer *tracer);

/* What tells its sink; for messages.  Borrowed. */
struct crit_emitter *crit_tracer_emitter(struct crit_tracer *tracer);

/* Tells the sink of a sample, where the thread is told of; for crit_samples_listener. */
int crit_tracer_sample(void *tracer, uint32_t thread, uint64_t time_ns,
		       const struct crit_trace_sample *sample);

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
