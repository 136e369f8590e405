// SPDX-License-Identifier: BSD-3-Clause
// Hears of threads and spans as the engine plays, and of what they may have earned.
#include "analysis/replay/tracer.h"

#include <errno.h>
#include <stdlib.h>

#include "core/abi/abi_shim.h"
#include "core/base/call.h"

struct crit_tracer_view { /* what the engine's news are held against */
	uint32_t depth; /* as the engine's, when it last had news */
	bool is_told;
};

void crit_tracer_fini(struct crit_tracer *tracer)
{
	crit_emitter_fini(&tracer->emitter);
	crit_tracer_setups_fini(&tracer->setups);
	crit_results_destroy(tracer->run);
	free(tracer->views);
	*tracer = (struct crit_tracer){ 0 };
}

/* Copies the cells of the span that is, or was, at this depth; 0 is the time outside all. */
static void copy_cells(const struct crit_thread *thread, uint32_t depth,
		       uint64_t ret_ns[CRIT_STATE_COUNT])
{
	unsigned int span_class = depth ? thread->spans[depth - 1].span_class
					: thread->base->key.span_class;
	int state;

	for (state = 0; state < CRIT_STATE_COUNT; state++)
		ret_ns[state] = thread->cells.ns[state][span_class];
}

static bool is_wanted(const struct crit_tracer *tracer, uint32_t index)
{
	const struct crit_life *life = &tracer->engine->model->lives[index];
	const struct crit_thread *thread = &tracer->engine->threads[index];

	if (thread->state == CRIT_STATE_NONE || !thread->is_open)
		return false;
	return tracer->emitter.sink->has_all ||
	       (life->role == CRIT_THREAD_APP && life->part != CRIT_NONE);
}

/* Spans it is in began before: their leaves are not told. */
static void post_begin(struct crit_tracer *tracer, uint32_t life, uint64_t time_ns)
{
	const struct crit_thread *thread = &tracer->engine->threads[life];
	struct crit_emitter_event emitted = {
		.time_ns = time_ns, .life = life, .kind = CRIT_EMIT_BEGIN, .bucket = thread->base
	};
	uint32_t depth;

	if (time_ns > tracer->emitter.end_ns)
		return;
	crit_tracer_setups_begin(&tracer->setups, life, time_ns);
	tracer->views[life] = (struct crit_tracer_view){ .depth = thread->depth, .is_told = true };
	copy_cells(thread, 0, emitted.marked_ns);
	crit_emitter_post(&tracer->emitter, &emitted);
	for (depth = 1; depth <= thread->depth; depth++) {
		const struct crit_span_frame *frame = &thread->spans[depth - 1];

		emitted.kind = CRIT_EMIT_INSIDE;
		emitted.bucket = frame->bucket;
		emitted.arg = frame->arg;
		emitted.call = frame->call;
		emitted.span_class = frame->span_class;
		copy_cells(thread, depth, emitted.marked_ns);
		crit_emitter_post(&tracer->emitter, &emitted);
	}
}

static void post_end(struct crit_tracer *tracer, uint32_t life, uint64_t time_ns)
{
	struct crit_emitter_event emitted = { .time_ns = time_ns,
					      .life = life,
					      .kind = CRIT_EMIT_END };

	copy_cells(&tracer->engine->threads[life], tracer->views[life].depth, emitted.looked_ns);
	tracer->views[life].is_told = false;
	crit_emitter_post(&tracer->emitter, &emitted);
}

/* What is known of the thread when it is told of at this time, which is clamped; else NULL. */
static struct crit_tracer_view *told_at(struct crit_tracer *tracer, uint32_t life,
					uint64_t *time_ns)
{
	if (!tracer->views[life].is_told)
		return NULL;
	if (*time_ns < tracer->emitter.begin_ns)
		*time_ns = tracer->emitter.begin_ns;
	if (*time_ns > tracer->emitter.end_ns)
		post_end(tracer, life, *time_ns);
	return tracer->views[life].is_told ? &tracer->views[life] : NULL;
}

static int on_thread(void *user, const struct crit_event *event)
{
	struct crit_tracer *tracer = user;
	uint64_t time_ns = event->time_ns;
	bool is_told = told_at(tracer, event->life, &time_ns) != NULL;
	bool is_wanted_now = is_wanted(tracer, event->life);

	if (is_told && !is_wanted_now)
		post_end(tracer, event->life, time_ns);
	else if (!is_told && is_wanted_now)
		post_begin(tracer, event->life,
			   time_ns < tracer->emitter.begin_ns ? tracer->emitter.begin_ns : time_ns);
	return tracer->emitter.error;
}

static int on_enter(void *user, const struct crit_event *event)
{
	struct crit_tracer *tracer = user;
	const struct crit_thread *thread = &tracer->engine->threads[event->life];
	uint64_t time_ns = event->time_ns;
	struct crit_tracer_view *view = told_at(tracer, event->life, &time_ns);
	const struct crit_span_frame *frame = &thread->spans[thread->depth - 1];
	struct crit_emitter_event emitted = { .time_ns = time_ns,
					      .life = event->life,
					      .kind = CRIT_EMIT_ENTER,
					      .bucket = frame->bucket,
					      .arg = frame->arg,
					      .polled = event->arg,
					      .call = frame->call,
					      .span_class = frame->span_class };

	if (!view) {
		if (crit_call_is_window(frame->call))
			crit_tracer_setups_enter(&tracer->setups, event->life, time_ns);
		return tracer->emitter.error;
	}
	copy_cells(thread, view->depth, emitted.looked_ns);
	copy_cells(thread, thread->depth, emitted.marked_ns);
	view->depth++;
	crit_emitter_post(&tracer->emitter, &emitted);
	return tracer->emitter.error;
}

static int on_leave(void *user, const struct crit_event *event)
{
	struct crit_tracer *tracer = user;
	const struct crit_thread *thread = &tracer->engine->threads[event->life];
	uint64_t time_ns = event->time_ns;
	struct crit_tracer_view *view = told_at(tracer, event->life, &time_ns);
	struct crit_emitter_event emitted = { .time_ns = time_ns,
					      .life = event->life,
					      .kind = CRIT_EMIT_LEAVE,
					      .bucket = thread->base,
					      .depth = thread->depth };

	if (!view)
		crit_tracer_setups_leave(&tracer->setups, event->life, time_ns);
	if (!view || view->depth <= thread->depth)
		return tracer->emitter.error;
	copy_cells(thread, view->depth, emitted.looked_ns);
	copy_cells(thread, thread->depth, emitted.marked_ns);
	view->depth = thread->depth;
	crit_emitter_post(&tracer->emitter, &emitted);
	return tracer->emitter.error;
}

static int on_base_ends(void *user, const struct crit_event *event)
{
	struct crit_tracer *tracer = user;
	uint64_t time_ns = event->time_ns;
	const struct crit_tracer_view *view = told_at(tracer, event->life, &time_ns);
	struct crit_emitter_event emitted = { .time_ns = time_ns,
					      .life = event->life,
					      .kind = CRIT_EMIT_LOOK };

	if (!view || view->depth)
		return tracer->emitter.error;
	copy_cells(&tracer->engine->threads[event->life], 0, emitted.looked_ns);
	crit_emitter_post(&tracer->emitter, &emitted);
	return tracer->emitter.error;
}

static int on_base_begins(void *user, const struct crit_event *event)
{
	struct crit_tracer *tracer = user;
	const struct crit_thread *thread = &tracer->engine->threads[event->life];
	const struct crit_tracer_view *view = &tracer->views[event->life];
	struct crit_emitter_event emitted = { .life = event->life,
					      .kind = CRIT_EMIT_MARK,
					      .bucket = thread->base };

	if (!view->is_told || view->depth)
		return tracer->emitter.error;
	copy_cells(thread, 0, emitted.marked_ns);
	crit_emitter_post(&tracer->emitter, &emitted);
	return tracer->emitter.error;
}

/* What is told as it is, where the thread is told of. */
static int pass_on(struct crit_tracer *tracer, const struct crit_event *event,
		   enum crit_emitter_event_kind kind)
{
	uint64_t time_ns = event->time_ns;
	struct crit_emitter_event emitted = {
		.life = event->life, .kind = (uint8_t)kind, .call = event->call, .arg = event->arg
	};

	if (told_at(tracer, event->life, &time_ns)) {
		emitted.time_ns = time_ns;
		crit_emitter_post(&tracer->emitter, &emitted);
	}
	return tracer->emitter.error;
}

static int on_release(void *user, const struct crit_event *event)
{
	return pass_on(user, event, CRIT_EMIT_RELEASE);
}

static int on_task(void *user, const struct crit_event *event)
{
	return pass_on(user, event, CRIT_EMIT_TASK);
}

static int on_finalize_enter(void *user, const struct crit_event *event)
{
	struct crit_tracer *tracer = user;

	crit_tracer_setups_finalize(&tracer->setups, event->life, true, event->arg, event->time_ns);
	return tracer->emitter.error;
}

static int on_finalize_leave(void *user, const struct crit_event *event)
{
	struct crit_tracer *tracer = user;

	crit_tracer_setups_finalize(&tracer->setups, event->life, false, event->arg,
				    event->time_ns);
	return tracer->emitter.error;
}

static int listen(struct crit_tracer *tracer, struct crit_engine *engine)
{
	const struct crit_listener listener = {
		.user = tracer,
		.on = {
			[CRIT_EVENT_THREAD] = on_thread,
			[CRIT_EVENT_ENTER] = on_enter,
			[CRIT_EVENT_LEAVE] = on_leave,
			[CRIT_EVENT_BASE_ENDS] = on_base_ends,
			[CRIT_EVENT_BASE_BEGINS] = on_base_begins,
			[CRIT_EVENT_RELEASE] = on_release,
			[CRIT_EVENT_TASK] = on_task,
			[CRIT_EVENT_FINALIZE_ENTER] = on_finalize_enter,
			[CRIT_EVENT_FINALIZE_LEAVE] = on_finalize_leave,
		},
	};

	return crit_listeners_add(&engine->listeners, &listener);
}

int crit_tracer_init(struct crit_tracer *tracer, struct crit_engine *engine,
		     const struct crit_identity *identity, const struct crit_trace_sink *sink,
		     const struct crit_emitter_queue *queue)
{
	const struct crit_model *model = engine->model;
	int rc;

	*tracer = (struct crit_tracer){ .engine = engine };
	rc = crit_emitter_init(&tracer->emitter, model, identity, sink, queue);
	if (!rc)
		rc = crit_tracer_setups_init(&tracer->setups, engine, &tracer->emitter);
	tracer->run = calloc(1, sizeof(*tracer->run));
	tracer->views = calloc(model->life_count + 1, sizeof(*tracer->views));
	if (!rc && (!tracer->run || !tracer->views))
		rc = -ENOMEM;
	if (!rc)
		rc = crit_identity_fill(identity, model, tracer->run);
	return rc ? rc : listen(tracer, engine);
}

int crit_tracer_begin(struct crit_tracer *tracer)
{
	return crit_emitter_begin(&tracer->emitter, tracer->run);
}

int crit_tracer_end(struct crit_tracer *tracer, const struct crit_results *results,
		    bool are_messages_whole)
{
	struct crit_emitter *emitter = &tracer->emitter;

	if (!emitter->error)
		crit_emitter_keep_error(emitter, crit_tracer_setups_end(&tracer->setups));
	return crit_emitter_end(emitter, results, are_messages_whole);
}
