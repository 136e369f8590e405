// SPDX-License-Identifier: BSD-3-Clause
// Tells a sink of threads, spans and what they earned, as the engine plays.
#include "analysis/tracer.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/outcome.h"
#include "core/abi_shim.h"

struct span { /* a frame of the engine's, or the time outside all */
	struct crit_trace_sums own; /* so far */
	struct crit_trace_sums seen; /* where its bucket and cells stood when last looked at */
	bool is_told;
};

struct crit_tracer_thread { /* there while it is told of */
	uint64_t total_cmetric_ns;
	uint32_t depth; /* as the engine's when last looked at */
	struct span *spans; /* 0: outside all */
	size_t span_capacity;
};

static void keep_error(struct crit_tracer *tracer, int rc)
{
	if (rc < 0 && !tracer->error)
		tracer->error = rc;
}

int crit_tracer_init(struct crit_tracer *tracer, struct crit_engine *engine,
		     const struct crit_trace_sink *sink)
{
	const struct crit_model *model = engine->model;
	int rc = -ENOMEM;

	*tracer = (struct crit_tracer){ .sink = sink,
					.engine = engine,
					.begin_ns = model->window_begin_ns };
	tracer->run = calloc(1, sizeof(*tracer->run));
	tracer->threads = calloc(model->life_count + 1, sizeof(void *));
	if (tracer->run && tracer->threads)
		rc = crit_outcome_identify(model, engine, tracer->run, &tracer->rank_rows,
					   &tracer->thread_rows);
	if (!rc) {
		tracer->end_ns = crit_model_traced_until_ns(model);
		if (sink->begin)
			rc = sink->begin(sink->user, tracer->run, tracer->end_ns);
	}
	if (rc < 0) {
		crit_tracer_fini(tracer);
		return rc;
	}
	engine->tracer = tracer;
	return 0;
}

static void forget(struct crit_tracer *tracer, uint32_t life)
{
	if (tracer->threads[life])
		free(tracer->threads[life]->spans);
	free(tracer->threads[life]);
	tracer->threads[life] = NULL;
}

void crit_tracer_fini(struct crit_tracer *tracer)
{
	size_t i;

	for (i = 0; tracer->threads && i < tracer->engine->model->life_count; i++)
		forget(tracer, (uint32_t)i);
	free(tracer->threads);
	free(tracer->rank_rows);
	free(tracer->thread_rows);
	crit_results_destroy(tracer->run);
	*tracer = (struct crit_tracer){ 0 };
}

static bool is_wanted(const struct crit_tracer *tracer, uint32_t index)
{
	const struct crit_life *life = &tracer->engine->model->lives[index];
	const struct crit_thread *thread = &tracer->engine->threads[index];

	if (thread->state == CRIT_STATE_NONE || !thread->is_open)
		return false;
	return tracer->sink->has_all || (life->role == CRIT_THREAD_APP && life->part != CRIT_NONE);
}

/* What a frame's bucket and cells hold now; depth 0 is the time outside all spans. */
static struct crit_trace_sums stand_of(const struct crit_thread *thread, uint32_t depth)
{
	const struct crit_span_frame *frame = depth ? &thread->spans[depth - 1] : NULL;
	const struct crit_bucket *bucket = frame ? frame->bucket : thread->base;
	unsigned int span_class = frame ? frame->span_class : bucket->key.span_class;
	struct crit_trace_sums stand = {
		.cmetric_ns = (uint64_t)(bucket->earned.cmetric[CRIT_UNIT_THREADS] >> 64),
		.stall_ns = (uint64_t)(bucket->earned.stall[CRIT_UNIT_THREADS] >> 64),
	};
	int state;

	for (state = 0; state < CRIT_STATE_COUNT; state++)
		stand.state_ns[state] = thread->cells.ns[state][span_class];
	return stand;
}

/* Credits a span with what it earned since it was last looked at. */
static void look(const struct crit_thread *thread, struct crit_tracer_thread *told, uint32_t depth)
{
	struct span *span = &told->spans[depth];
	struct crit_trace_sums stand = stand_of(thread, depth);
	int state;

	span->own.cmetric_ns += stand.cmetric_ns - span->seen.cmetric_ns;
	span->own.stall_ns += stand.stall_ns - span->seen.stall_ns;
	for (state = 0; state < CRIT_STATE_COUNT; state++)
		span->own.state_ns[state] += stand.state_ns[state] - span->seen.state_ns[state];
	told->total_cmetric_ns += stand.cmetric_ns - span->seen.cmetric_ns;
	span->seen = stand;
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

static struct crit_trace_span span_of(const struct crit_span_frame *frame)
{
	const struct crit_bucket_key *key = &frame->bucket->key;

	return (struct crit_trace_span){ .call = frame->call,
					 .span_class = frame->span_class,
					 .region = key->region,
					 .site = key->site,
					 .arg = frame->arg };
}

/* Ends the innermost spans told of until depth are left. */
static void tell_leaves(struct crit_tracer *tracer, uint32_t life, uint32_t depth, uint64_t time_ns)
{
	const struct crit_trace_sink *sink = tracer->sink;
	const struct crit_thread *thread = &tracer->engine->threads[life];
	struct crit_tracer_thread *told = tracer->threads[life];
	bool is_cut = time_ns > tracer->end_ns;

	for (; told->depth > depth; told->depth--) {
		struct crit_trace_span span = span_of(&thread->spans[told->depth - 1]);
		struct span *ended = &told->spans[told->depth];

		ended->own.total_cmetric_ns = told->total_cmetric_ns;
		if (!ended->is_told)
			credit_outside(told, &ended->own);
		else if (sink->leave)
			keep_error(tracer, sink->leave(sink->user, tracer->thread_rows[life],
						       is_cut ? tracer->end_ns : time_ns, &span,
						       is_cut ? NULL : &ended->own));
	}
}

/* Room for spans up to this depth.  Errors: -ENOMEM. */
static int grow(struct crit_tracer_thread *told, uint32_t depth)
{
	return crit_array_grow(&told->spans, &told->span_capacity, depth + 1, sizeof(*told->spans));
}

static void begin_thread(struct crit_tracer *tracer, uint32_t life, uint64_t time_ns)
{
	const struct crit_trace_sink *sink = tracer->sink;
	const struct crit_thread *thread = &tracer->engine->threads[life];
	struct crit_tracer_thread *told;
	uint32_t depth;

	if (time_ns > tracer->end_ns)
		return;
	told = calloc(1, sizeof(*told));
	if (!told || grow(told, thread->depth)) {
		free(told);
		keep_error(tracer, -ENOMEM);
		return;
	}
	tracer->threads[life] = told;
	told->depth = thread->depth; /* these began before: their leaves are not told */
	for (depth = 0; depth <= thread->depth; depth++)
		told->spans[depth].seen = stand_of(thread, depth);
	if (sink->thread_begin)
		keep_error(tracer,
			   sink->thread_begin(sink->user, tracer->thread_rows[life], time_ns));
}

/* After the end of all spans nobody knows what was earned until then. */
static void end_thread(struct crit_tracer *tracer, uint32_t life, uint64_t time_ns)
{
	const struct crit_trace_sink *sink = tracer->sink;
	struct crit_tracer_thread *told = tracer->threads[life];
	struct crit_trace_sums *own = &told->spans[0].own;
	bool is_cut = time_ns > tracer->end_ns;

	look(&tracer->engine->threads[life], told, told->depth);
	tell_leaves(tracer, life, 0, time_ns);
	own->total_cmetric_ns = told->total_cmetric_ns;
	if (sink->thread_end)
		keep_error(tracer, sink->thread_end(sink->user, tracer->thread_rows[life],
						    is_cut ? tracer->end_ns : time_ns,
						    is_cut ? NULL : own));
	forget(tracer, life);
}

/* The thread when it is told of at this time, which is clamped; else NULL. */
static struct crit_tracer_thread *told_at(struct crit_tracer *tracer, uint32_t life,
					  uint64_t *time_ns)
{
	if (!tracer->threads[life])
		return NULL;
	if (*time_ns < tracer->begin_ns)
		*time_ns = tracer->begin_ns;
	if (*time_ns > tracer->end_ns)
		end_thread(tracer, life, *time_ns);
	return tracer->threads[life];
}

void crit_tracer_update(struct crit_tracer *tracer, uint32_t life, uint64_t time_ns)
{
	const struct crit_tracer_thread *told = told_at(tracer, life, &time_ns);
	bool is_wanted_now = is_wanted(tracer, life);

	if (told && !is_wanted_now)
		end_thread(tracer, life, time_ns);
	else if (!told && is_wanted_now)
		begin_thread(tracer, life, time_ns < tracer->begin_ns ? tracer->begin_ns : time_ns);
}

void crit_tracer_enter(struct crit_tracer *tracer, uint32_t life, uint64_t polled, uint64_t time_ns)
{
	const struct crit_trace_sink *sink = tracer->sink;
	const struct crit_thread *thread = &tracer->engine->threads[life];
	struct crit_tracer_thread *told = told_at(tracer, life, &time_ns);
	struct crit_trace_span span;

	if (!told)
		return;
	if (grow(told, told->depth + 1)) {
		keep_error(tracer, -ENOMEM);
		return;
	}
	look(thread, told, told->depth);
	told->spans[++told->depth] = (struct span){ .own = { .polled = polled },
						    .seen = stand_of(thread, thread->depth),
						    .is_told = true };
	span = span_of(&thread->spans[thread->depth - 1]);
	if (sink->enter)
		keep_error(tracer, sink->enter(sink->user, tracer->thread_rows[life], time_ns,
					       &span, told->total_cmetric_ns));
}

void crit_tracer_leave(struct crit_tracer *tracer, uint32_t life, uint64_t time_ns)
{
	const struct crit_thread *thread = &tracer->engine->threads[life];
	struct crit_tracer_thread *told = told_at(tracer, life, &time_ns);

	if (!told || told->depth <= thread->depth)
		return;
	look(thread, told, told->depth);
	tell_leaves(tracer, life, thread->depth, time_ns);
	told->spans[told->depth].seen = stand_of(thread, told->depth);
}

void crit_tracer_look(struct crit_tracer *tracer, uint32_t life, uint64_t time_ns)
{
	struct crit_tracer_thread *told = told_at(tracer, life, &time_ns);

	if (told && !told->depth)
		look(&tracer->engine->threads[life], told, 0);
}

void crit_tracer_mark(struct crit_tracer *tracer, uint32_t life)
{
	struct crit_tracer_thread *told = tracer->threads[life];

	if (told && !told->depth)
		told->spans[0].seen = stand_of(&tracer->engine->threads[life], 0);
}

void crit_tracer_release(struct crit_tracer *tracer, uint32_t life, uint64_t time_ns, uint16_t call,
			 uint64_t lock)
{
	const struct crit_trace_sink *sink = tracer->sink;

	if (sink->release && told_at(tracer, life, &time_ns))
		keep_error(tracer, sink->release(sink->user, tracer->thread_rows[life], time_ns,
						 call, lock));
}

void crit_tracer_task(struct crit_tracer *tracer, uint32_t life, uint64_t time_ns, uint16_t note,
		      uint64_t task)
{
	const struct crit_trace_sink *sink = tracer->sink;

	if (sink->task && told_at(tracer, life, &time_ns))
		keep_error(tracer,
			   sink->task(sink->user, tracer->thread_rows[life], time_ns, note, task));
}

void crit_tracer_message(struct crit_tracer *tracer, uint32_t life, uint64_t time_ns,
			 const struct crit_trace_message *message)
{
	const struct crit_trace_sink *sink = tracer->sink;

	if (sink->message && told_at(tracer, life, &time_ns))
		keep_error(tracer,
			   sink->message(sink->user, tracer->thread_rows[life], time_ns, message));
}

void crit_tracer_communicator(struct crit_tracer *tracer,
			      const struct crit_trace_communicator *communicator)
{
	const struct crit_trace_sink *sink = tracer->sink;

	if (sink->communicator)
		keep_error(tracer, sink->communicator(sink->user, communicator));
}

int crit_tracer_end(struct crit_tracer *tracer, const struct crit_results *results)
{
	const struct crit_trace_sink *sink = tracer->sink;

	if (!tracer->error && sink->end)
		keep_error(tracer, sink->end(sink->user, results, tracer->are_messages_whole));
	return tracer->error;
}
