// SPDX-License-Identifier: BSD-3-Clause
// Tells a sink of threads, spans, messages and what was earned, once that is known.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/replay/tracer_ops.h"

struct span { /* a frame of the engine's, or the time outside all */
	struct crit_trace_sums own; /* so far */
	struct crit_trace_sums seen; /* where its bucket and cells stood when last looked at */
	struct crit_bucket *bucket;
	uint64_t arg;
	uint16_t call;
	uint8_t span_class;
	bool is_told;
};

struct crit_tracer_thread { /* there while it is told of */
	uint64_t total_cmetric_ns;
	uint32_t depth; /* as the engine's when last looked at */
	struct span *spans; /* 0: outside all */
	size_t span_capacity;
};

void crit_tracer_keep_error(struct crit_tracer *tracer, int rc)
{
	if (rc < 0 && !tracer->error)
		tracer->error = rc;
}

void crit_tracer_forget(struct crit_tracer *tracer, uint32_t life)
{
	if (tracer->threads[life])
		free(tracer->threads[life]->spans);
	free(tracer->threads[life]);
	tracer->threads[life] = NULL;
}

/* Where a bucket and cells stand. */
static struct crit_trace_sums stand_of(const struct crit_bucket *bucket,
				       const uint64_t state_ns[CRIT_STATE_COUNT])
{
	struct crit_trace_sums stand = {
		.cmetric_ns = (uint64_t)(bucket->earned.cmetric[CRIT_UNIT_THREADS] >> 64),
		.stall_ns = (uint64_t)(bucket->earned.stall[CRIT_UNIT_THREADS] >> 64),
	};

	memcpy(stand.state_ns, state_ns, sizeof(stand.state_ns));
	return stand;
}

/* Credits the innermost span with what it earned since it was last looked at. */
static void look(struct crit_tracer_thread *told, const struct crit_tracer_op *op)
{
	struct span *span = &told->spans[told->depth];
	struct crit_trace_sums stand = stand_of(span->bucket, op->looked_ns);
	int state;

	span->own.cmetric_ns += stand.cmetric_ns - span->seen.cmetric_ns;
	span->own.stall_ns += stand.stall_ns - span->seen.stall_ns;
	for (state = 0; state < CRIT_STATE_COUNT; state++)
		span->own.state_ns[state] += stand.state_ns[state] - span->seen.state_ns[state];
	told->total_cmetric_ns += stand.cmetric_ns - span->seen.cmetric_ns;
	span->seen = stand;
}

/* What the innermost span earns from now on is its own. */
static void mark(struct crit_tracer_thread *told, const struct crit_tracer_op *op)
{
	struct span *span = &told->spans[told->depth];

	if (!told->depth)
		span->bucket = op->bucket;
	span->seen = stand_of(span->bucket, op->marked_ns);
}

/* Time in a span that is not told of lies outside those that are. */
static void credit_outside(struct crit_tracer_thread *told, const struct crit_trace_sums *sums)
{
	struct crit_trace_sums *outside = &told->spans[0].own;
	int state;

	outside->cmetric_ns += sums->cmetric_ns;
	outside->stall_ns += sums->stall_ns;
	for (state = 0; state < CRIT_STATE_COUNT; state++)
		outside->state_ns[state] += sums->state_ns[state];
}

static struct crit_trace_span span_of(const struct span *span)
{
	const struct crit_bucket_key *key = &span->bucket->key;

	return (struct crit_trace_span){ .call = span->call,
					 .span_class = span->span_class,
					 .region = key->region,
					 .site = key->site,
					 .arg = span->arg };
}

/* Ends the innermost spans told of until depth are left. */
static void tell_leaves(struct crit_tracer *tracer, const struct crit_tracer_op *op, uint32_t depth)
{
	const struct crit_trace_sink *sink = tracer->sink;
	struct crit_tracer_thread *told = tracer->threads[op->life];
	bool is_cut = op->time_ns > tracer->end_ns;

	for (; told->depth > depth; told->depth--) {
		struct span *ended = &told->spans[told->depth];
		struct crit_trace_span span = span_of(ended);

		ended->own.total_cmetric_ns = told->total_cmetric_ns;
		if (!ended->is_told)
			credit_outside(told, &ended->own);
		else if (sink->leave)
			crit_tracer_keep_error(
				tracer, sink->leave(sink->user, tracer->thread_rows[op->life],
						    is_cut ? tracer->end_ns : op->time_ns, &span,
						    is_cut ? NULL : &ended->own));
	}
}

/* One more span becomes the innermost.  Errors: -ENOMEM. */
static int push(struct crit_tracer_thread *told, const struct crit_tracer_op *op)
{
	int rc = crit_array_grow(&told->spans, &told->span_capacity, told->depth + 2u,
				 sizeof(*told->spans));

	if (rc)
		return rc;
	told->spans[++told->depth] = (struct span){ .own = { .polled = op->polled },
						    .bucket = op->bucket,
						    .arg = op->arg,
						    .call = op->call,
						    .span_class = op->span_class,
						    .is_told = op->kind == CRIT_OP_ENTER };
	mark(told, op);
	return 0;
}

static int begin_thread(struct crit_tracer *tracer, const struct crit_tracer_op *op)
{
	const struct crit_trace_sink *sink = tracer->sink;
	struct crit_tracer_thread *told = calloc(1, sizeof(*told));

	tracer->threads[op->life] = told;
	if (!told || crit_array_grow(&told->spans, &told->span_capacity, 1, sizeof(*told->spans)))
		return -ENOMEM;
	told->spans[0] = (struct span){ 0 };
	mark(told, op);
	return sink->thread_begin
		       ? sink->thread_begin(sink->user, tracer->thread_rows[op->life], op->time_ns)
		       : 0;
}

/* After the end of all spans nobody knows what was earned until then. */
static int end_thread(struct crit_tracer *tracer, const struct crit_tracer_op *op)
{
	const struct crit_trace_sink *sink = tracer->sink;
	struct crit_tracer_thread *told = tracer->threads[op->life];
	struct crit_trace_sums *own = &told->spans[0].own;
	bool is_cut = op->time_ns > tracer->end_ns;
	int rc = 0;

	look(told, op);
	tell_leaves(tracer, op, 0);
	own->total_cmetric_ns = told->total_cmetric_ns;
	if (sink->thread_end)
		rc = sink->thread_end(sink->user, tracer->thread_rows[op->life],
				      is_cut ? tracer->end_ns : op->time_ns, is_cut ? NULL : own);
	crit_tracer_forget(tracer, op->life);
	return rc;
}

static int enter(struct crit_tracer *tracer, const struct crit_tracer_op *op)
{
	const struct crit_trace_sink *sink = tracer->sink;
	struct crit_tracer_thread *told = tracer->threads[op->life];
	struct crit_trace_span span;
	int rc;

	look(told, op);
	rc = push(told, op);
	if (rc || !sink->enter)
		return rc;
	span = span_of(&told->spans[told->depth]);
	return sink->enter(sink->user, tracer->thread_rows[op->life], op->time_ns, &span,
			   told->total_cmetric_ns);
}

static int tell_setup(const struct crit_tracer *tracer, const struct crit_tracer_op *op)
{
	const struct crit_trace_sink *sink = tracer->sink;
	const struct crit_trace_setup setup = {
		.begin_ns = op->polled, .end_ns = op->time_ns, .site = op->arg, .call = op->call
	};

	return sink->setup ? sink->setup(sink->user, tracer->thread_rows[op->life], &setup) : 0;
}

int crit_tracer_work(struct crit_tracer *tracer, const struct crit_tracer_op *op)
{
	const struct crit_trace_sink *sink = tracer->sink;
	struct crit_tracer_thread *told = tracer->threads[op->life];

	switch ((enum crit_tracer_op_kind)op->kind) {
	case CRIT_OP_BEGIN:
		return begin_thread(tracer, op);
	case CRIT_OP_INSIDE:
		return push(told, op);
	case CRIT_OP_ENTER:
		return enter(tracer, op);
	case CRIT_OP_LEAVE:
		look(told, op);
		tell_leaves(tracer, op, op->depth);
		mark(told, op);
		return 0;
	case CRIT_OP_LOOK:
		look(told, op);
		return 0;
	case CRIT_OP_MARK:
		mark(told, op);
		return 0;
	case CRIT_OP_RELEASE:
		return sink->release ? sink->release(sink->user, tracer->thread_rows[op->life],
						     op->time_ns, op->call, op->arg)
				     : 0;
	case CRIT_OP_TASK:
		return sink->task ? sink->task(sink->user, tracer->thread_rows[op->life],
					       op->time_ns, op->call, op->arg)
				  : 0;
	case CRIT_OP_SETUP:
		return tell_setup(tracer, op);
	default:
		return end_thread(tracer, op);
	}
}

int crit_tracer_pass_message(struct crit_tracer *tracer, uint32_t life, uint64_t time_ns,
			     const struct crit_trace_message *message)
{
	const struct crit_trace_sink *sink = tracer->sink;

	if (sink->message)
		crit_tracer_keep_error(tracer, sink->message(sink->user, tracer->thread_rows[life],
							     time_ns, message));
	return tracer->error;
}

/* What lies outside a thread's part, or after the end, is told to nobody. */
int crit_tracer_message(void *user, uint32_t life, uint64_t time_ns,
			const struct crit_trace_message *message)
{
	struct crit_tracer *tracer = user;

	if (time_ns < tracer->begin_ns)
		time_ns = tracer->begin_ns;
	if (!tracer->threads[life] || time_ns > tracer->end_ns)
		return tracer->error;
	return crit_tracer_pass_message(tracer, life, time_ns, message);
}

int crit_tracer_communicator(void *user, const struct crit_trace_communicator *communicator)
{
	struct crit_tracer *tracer = user;
	const struct crit_trace_sink *sink = tracer->sink;

	if (sink->communicator)
		crit_tracer_keep_error(tracer, sink->communicator(sink->user, communicator));
	return tracer->error;
}

int crit_tracer_end(struct crit_tracer *tracer, const struct crit_results *results,
		    bool are_messages_whole)
{
	const struct crit_trace_sink *sink = tracer->sink;

	if (!tracer->error)
		crit_tracer_keep_error(tracer, crit_tracer_end_setups(tracer));
	if (!tracer->error && sink->end)
		crit_tracer_keep_error(tracer, sink->end(sink->user, results, are_messages_whole));
	return tracer->error;
}
