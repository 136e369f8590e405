/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between the engine and a sink: which threads are told of, and what a span earned.
 *
 * The engine pays whole segments into buckets.  When a thread's span changes, the segment before
 * has just been paid, so the difference of its bucket since the span was last looked at is what
 * the span earned: one subtraction per change, and nothing at all without a sink.
 */
#ifndef CRIT_TRACER_H
#define CRIT_TRACER_H

#include "analysis/account/engine.h"
#include "analysis/identity/identity.h"
#include "analysis/schema/trace.h"

struct crit_tracer_op;

struct crit_tracer_queue {
	void *user;
	/* The op is worked on later, by crit_tracer_work (tracer_ops.h).  Errors: -ENOMEM. */
	int (*put)(void *user, const struct crit_tracer_op *op);
};

struct crit_tracer {
	const struct crit_trace_sink *sink;
	const struct crit_engine *engine;
	const struct crit_tracer_queue *queue;
	struct crit_results *run; /* what begin() was told */
	const uint32_t *thread_rows; /* life -> row of threads */
	struct crit_tracer_thread **threads; /* by life; NULL: not told of now */
	struct crit_tracer_view *views; /* by life: the same when its last news came */
	struct crit_tracer_setup *setups; /* by rank of the model */
	uint64_t begin_ns, end_ns;
	int error; /* the first answer of the sink that was none */
};

/*
 * Begins to listen to an engine that has played nothing yet.  Cost of an event: O(1), O(depth)
 * where a thread ends.  queue: where events wait until the engine's buckets say what was earned;
 * NULL: they do at once.
 * Ownership: sink, engine, identity and queue are borrowed until fini, also after an error.
 * Errors: -ENOMEM, -ENOSPC.
 */
int crit_tracer_init(struct crit_tracer *tracer, struct crit_engine *engine,
		     const struct crit_identity *identity, const struct crit_trace_sink *sink,
		     const struct crit_tracer_queue *queue);
void crit_tracer_fini(struct crit_tracer *tracer);

/* Tells the sink that it begins.  Errors: those of the sink. */
int crit_tracer_begin(struct crit_tracer *tracer);

/*
 * For who decodes messages (crit_message_sink): a message is told before the engine takes the
 * leave; nothing is told outside a thread's part or after end_ns.  Errors: those of the sink.
 */
int crit_tracer_message(void *tracer, uint32_t life, uint64_t time_ns,
			const struct crit_trace_message *message);
int crit_tracer_communicator(void *tracer, const struct crit_trace_communicator *communicator);

/* The same of a thread that others tell of, as it is.  Errors: those of the sink. */
int crit_tracer_pass_message(struct crit_tracer *tracer, uint32_t life, uint64_t time_ns,
			     const struct crit_trace_message *message);

/* Tells the sink that all is told.  Errors: the first of the sink's, -ENOMEM. */
int crit_tracer_end(struct crit_tracer *tracer, const struct crit_results *results,
		    bool are_messages_whole);

#endif
