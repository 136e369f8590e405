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
#include "analysis/cluster/peers.h"
#include "analysis/schema/trace.h"

struct crit_tracer {
	const struct crit_trace_sink *sink;
	const struct crit_engine *engine;
	struct crit_results *run; /* what begin() was told */
	uint32_t *rank_rows; /* rank of the model -> row of ranks */
	uint32_t *thread_rows; /* life -> row of threads */
	struct crit_tracer_thread **threads; /* by life; NULL: not told of now */
	struct crit_tracer_view *views; /* by life: the same when its last news came */
	struct crit_tracer_op *ops; /* news that wait for the run's integrals */
	size_t op_count, op_capacity, op_at;
	struct crit_parcel news; /* messages peer 0 sent, by span */
	size_t news_at;
	uint64_t skipped; /* spans whose messages are still to come, and told to nobody */
	struct crit_parcel *box; /* where messages of the present span go; NULL: told at once */
	size_t box_at;
	uint32_t box_count;
	struct crit_tracer_setup *setups; /* by rank of the model */
	uint64_t begin_ns, end_ns;
	bool are_messages_whole; /* who decodes messages says so; false until then */
	int error; /* the first answer of the sink that was none */
};

/*
 * Begins to listen to an engine that has played nothing yet, and tells the sink so.  Cost of an
 * event: O(1), O(depth) where a thread ends.
 * Ownership: sink and engine are borrowed until fini.  Errors: -ENOMEM, those of the sink.
 */
int crit_tracer_init(struct crit_tracer *tracer, struct crit_engine *engine,
		     const struct crit_trace_sink *sink);
void crit_tracer_fini(struct crit_tracer *tracer);

/*
 * News of who decodes messages; rank_rows gives the rows of members.  A message is told before the
 * engine hears of the leave; nothing is told outside a thread's part or after end_ns.
 */
void crit_tracer_message(struct crit_tracer *tracer, uint32_t life, uint64_t time_ns,
			 const struct crit_trace_message *message);
void crit_tracer_communicator(struct crit_tracer *tracer,
			      const struct crit_trace_communicator *communicator);

/*
 * Where several peers analyse the run (dealing.h), a thread's news wait until the step they came
 * after is taken.  Its messages peer 0 decodes and sends with the integrals.
 */

/* A span with details ends, whose messages come from peer 0. */
void crit_tracer_details(struct crit_tracer *tracer, uint32_t life);

/* On peer 0: where the messages of the span go that is decoded next. */
void crit_tracer_open_box(struct crit_tracer *tracer, struct crit_parcel *box);
void crit_tracer_close_box(struct crit_tracer *tracer);

/* What peer 0 has put into a box.  Errors: -ENOMEM, -EPROTO. */
int crit_tracer_take_news(struct crit_tracer *tracer, const unsigned char *bytes, size_t size);

/*
 * So many steps are taken, and must: the next one is about to be: tells what came before it.
 * rest: a round is over.  Errors: those of the sink, -ENOMEM, -EPROTO.
 */
int crit_tracer_catch_up(struct crit_tracer *tracer, uint64_t steps, bool must);
int crit_tracer_rest(struct crit_tracer *tracer, uint64_t steps);

/* Tells the sink that all is told.  Errors: the first of the sink's, -ENOMEM. */
int crit_tracer_end(struct crit_tracer *tracer, const struct crit_results *results);

#endif
