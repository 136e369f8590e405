// SPDX-License-Identifier: BSD-3-Clause
// Listens to the replay, and queues events of threads and spans with their attribution.
#include "analysis/replay/tracer.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/account/engine.h"
#include "analysis/identity/identity.h"
#include "analysis/replay/emitter.h"
#include "analysis/replay/emitter_state.h"
#include "analysis/replay/tracer_setup.h"
#include "core/abi/abi_shim.h"
#include "core/base/call.h"

struct crit_tracer_view { /* what the engine's news are held against */
	uint32_t depth; /* as the engine's, when it last had news */
	uint8_t span_class; /* of the innermost span */
	bool is_told;
	bool is_traced; /* told of, while its part of the window is open */
	uint64_t cells_ns[CRIT_STATE_COUNT]; /* of that class when the span became the innermost */
	/* by class: RUNNABLE that was told of spans before, and was RUNNING, as is known now */
	uint64_t owed_ns[CRIT_CLASS_COUNT];
};

struct crit_tracer {
	struct crit_emitter emitter;
	struct crit_tracer_setups setups;
	const struct crit_engine *engine;
	struct crit_results *run; /* what the sink's begin() is told */
	bool has_states, has_blocks; /* the sink is told of kernel states; of system calls */
	bool has_sums; /* of what was earned */
	struct crit_tracer_view *views; /* by thread: the same when its last event came */
};

void crit_tracer_destroy(struct crit_tracer *tracer)
{
	if (!tracer)
		return;
	crit_emitter_fini(&tracer->emitter);
	crit_tracer_setups_fini(&tracer->setups);
	crit_results_destroy(tracer->run);
	free(tracer->views);
	free(tracer);
}

/*
 * Stays on a CPU that are told of later may have been in spans that were told of before.  This one
 * has no more of them than it was runnable for; later ones of the class have the rest.
 */
static inline void settle(struct crit_tracer_view *view, uint64_t earned_ns[CRIT_STATE_COUNT])
{
	uint64_t *owed_ns = &view->owed_ns[view->span_class];
	const int64_t runnable_ns = (int64_t)earned_ns[CRIT_STATE_RUNNABLE];
	int64_t moved_ns = (int64_t)*owed_ns;

	if (runnable_ns < moved_ns)
		moved_ns = runnable_ns;
	earned_ns[CRIT_STATE_RUNNABLE] -= (uint64_t)moved_ns;
	earned_ns[CRIT_STATE_RUNNING] += (uint64_t)moved_ns;
	*owed_ns -= (uint64_t)moved_ns;
}

/* What the innermost span has earned by kernel state. */
static inline void look(const struct crit_tracer *tracer, uint32_t thread,
			uint64_t ret_earned_ns[CRIT_STATE_COUNT])
{
	struct crit_tracer_view *view = &tracer->views[thread];
	const struct crit_thread_account *account = &tracer->engine->accounts[thread];

	if (!tracer->has_sums)
		return;
#pragma GCC unroll 8 /* as in emitter.c */
	for (int state = 0; state < CRIT_STATE_COUNT; state++)
		ret_earned_ns[state] =
			account->cells.ns[state][view->span_class] - view->cells_ns[state];
	settle(view, ret_earned_ns);
}

/* The span at the engine's depth becomes the innermost; 0 is the time outside all. */
static inline void mark(const struct crit_tracer *tracer, uint32_t thread)
{
	struct crit_tracer_view *view = &tracer->views[thread];
	const struct crit_thread_account *account = &tracer->engine->accounts[thread];

	view->depth = account->depth;
	if (!tracer->has_sums)
		return;
	view->span_class = view->depth ? account->spans[view->depth - 1].span_class
				       : account->base->key.span_class;
#pragma GCC unroll 8 /* as in emitter.c */
	for (int state = 0; state < CRIT_STATE_COUNT; state++)
		view->cells_ns[state] = account->cells.ns[state][view->span_class];
}

static inline bool is_wanted(const struct crit_tracer *tracer, uint32_t thread)
{
	const struct crit_thread_account *account = &tracer->engine->accounts[thread];

	return account->state != CRIT_STATE_NONE && account->is_open &&
	       tracer->views[thread].is_traced;
}

/* Spans it is in began before. */
static void post_begin(struct crit_tracer *tracer, uint32_t thread, uint64_t time_ns)
{
	const struct crit_thread_account *account = &tracer->engine->accounts[thread];
	struct crit_emitter_event emitted = { .time_ns = time_ns,
					      .thread = thread,
					      .kind = CRIT_EMIT_BEGIN,
					      .bucket = account->base };

	if (time_ns > tracer->emitter.end_ns)
		return;
	crit_tracer_setups_begin(&tracer->setups, thread, time_ns);
	tracer->views[thread].is_told = true;
	mark(tracer, thread);
	crit_emitter_post(&tracer->emitter, &emitted);
	for (uint32_t depth = 1; depth <= account->depth; depth++) {
		const struct crit_span_frame *frame = &account->spans[depth - 1];

		emitted.kind = CRIT_EMIT_INSIDE;
		emitted.bucket = frame->bucket;
		emitted.arg = frame->arg;
		emitted.call = frame->call;
		emitted.span_class = frame->span_class;
		crit_emitter_post(&tracer->emitter, &emitted);
	}
}

static void post_end(struct crit_tracer *tracer, uint32_t thread, uint64_t time_ns)
{
	struct crit_emitter_event emitted = { .time_ns = time_ns,
					      .thread = thread,
					      .kind = CRIT_EMIT_END };

	look(tracer, thread, emitted.earned_ns);
	tracer->views[thread].is_told = false;
	crit_emitter_post(&tracer->emitter, &emitted);
}

/* What is known of the thread when it is told of at this time, which is clamped; else NULL. */
static inline struct crit_tracer_view *told_at(struct crit_tracer *tracer, uint32_t thread,
					       uint64_t *time_ns)
{
	if (!tracer->views[thread].is_told)
		return NULL;
	if (*time_ns < tracer->emitter.begin_ns)
		*time_ns = tracer->emitter.begin_ns;
	if (*time_ns > tracer->emitter.end_ns)
		post_end(tracer, thread, *time_ns);
	return tracer->views[thread].is_told ? &tracer->views[thread] : NULL;
}

/* The kernel state of a thread that is told of; where nothing is queued the sink gets it. */
static inline void post_state(struct crit_tracer *tracer, uint32_t thread, uint64_t time_ns,
			      uint64_t ran_ns)
{
	struct crit_emitter *emitter = &tracer->emitter;
	const struct crit_trace_sink *sink = emitter->sink;
	const uint8_t state = tracer->engine->accounts[thread].state;

	if (emitter->queue)
		crit_emitter_post(emitter, &(struct crit_emitter_event){ .time_ns = time_ns,
									 .thread = thread,
									 .kind = CRIT_EMIT_STATE,
									 .arg = state,
									 .polled = ran_ns });
	else if (!emitter->error)
		crit_emitter_keep_error(
			emitter, sink->state(sink->user, emitter->thread_rows[thread], time_ns,
					     (enum crit_kernel_state)state, ran_ns));
}

static int on_thread(void *user, const struct crit_event *event)
{
	struct crit_tracer *tracer = user;
	struct crit_emitter *emitter = &tracer->emitter;
	const uint32_t thread = event->thread;
	uint64_t time_ns = event->time_ns < emitter->begin_ns ? emitter->begin_ns : event->time_ns;
	const bool was_told = told_at(tracer, thread, &time_ns) != NULL;

	if (was_told && !is_wanted(tracer, thread))
		post_end(tracer, thread, time_ns);
	else if (!was_told && is_wanted(tracer, thread))
		post_begin(tracer, thread, time_ns);
	if (tracer->has_states && tracer->views[thread].is_told)
		post_state(tracer, thread, time_ns, event->arg);
	return emitter->error;
}

static int on_enter(void *user, const struct crit_event *event)
{
	struct crit_tracer *tracer = user;
	const struct crit_thread_account *account = &tracer->engine->accounts[event->thread];
	uint64_t time_ns = event->time_ns;
	struct crit_tracer_view *view = told_at(tracer, event->thread, &time_ns);
	const struct crit_span_frame *frame = &account->spans[account->depth - 1];
	struct crit_emitter_event emitted = { .time_ns = time_ns,
					      .thread = event->thread,
					      .kind = CRIT_EMIT_ENTER,
					      .bucket = frame->bucket,
					      .arg = frame->arg,
					      .polled = event->arg,
					      .call = frame->call,
					      .span_class = frame->span_class };

	if (!view) {
		if (crit_call_is_window(frame->call))
			crit_tracer_setups_enter(&tracer->setups, event->thread, time_ns);
		return tracer->emitter.error;
	}
	look(tracer, event->thread, emitted.earned_ns);
	mark(tracer, event->thread);
	crit_emitter_post(&tracer->emitter, &emitted);
	return tracer->emitter.error;
}

static int on_leave(void *user, const struct crit_event *event)
{
	struct crit_tracer *tracer = user;
	const struct crit_thread_account *account = &tracer->engine->accounts[event->thread];
	uint64_t time_ns = event->time_ns;
	struct crit_tracer_view *view = told_at(tracer, event->thread, &time_ns);
	struct crit_emitter_event emitted = { .time_ns = time_ns,
					      .thread = event->thread,
					      .kind = CRIT_EMIT_LEAVE,
					      .bucket = account->base,
					      .depth = account->depth };

	if (!view)
		crit_tracer_setups_leave(&tracer->setups, event->thread, time_ns);
	if (!view || view->depth <= account->depth)
		return tracer->emitter.error;
	look(tracer, event->thread, emitted.earned_ns);
	mark(tracer, event->thread);
	crit_emitter_post(&tracer->emitter, &emitted);
	return tracer->emitter.error;
}

static int on_base_ends(void *user, const struct crit_event *event)
{
	struct crit_tracer *tracer = user;
	uint64_t time_ns = event->time_ns;
	const struct crit_tracer_view *view = told_at(tracer, event->thread, &time_ns);
	struct crit_emitter_event emitted = { .time_ns = time_ns,
					      .thread = event->thread,
					      .kind = CRIT_EMIT_LOOK };

	if (!view || view->depth)
		return tracer->emitter.error;
	look(tracer, event->thread, emitted.earned_ns);
	crit_emitter_post(&tracer->emitter, &emitted);
	return tracer->emitter.error;
}

static int on_base_begins(void *user, const struct crit_event *event)
{
	struct crit_tracer *tracer = user;
	const struct crit_thread_account *account = &tracer->engine->accounts[event->thread];
	struct crit_tracer_view *view = &tracer->views[event->thread];
	struct crit_emitter_event emitted = { .thread = event->thread,
					      .kind = CRIT_EMIT_MARK,
					      .bucket = account->base };

	if (!view->is_told || view->depth)
		return tracer->emitter.error;
	mark(tracer, event->thread);
	crit_emitter_post(&tracer->emitter, &emitted);
	return tracer->emitter.error;
}

/* What is told as it is, where the thread is told of. */
static int pass_on(struct crit_tracer *tracer, const struct crit_event *event,
		   enum crit_emitter_event_kind kind)
{
	uint64_t time_ns = event->time_ns;
	struct crit_emitter_event emitted = { .thread = event->thread,
					      .kind = (uint8_t)kind,
					      .call = event->call,
					      .arg = event->arg };

	if (told_at(tracer, event->thread, &time_ns)) {
		emitted.time_ns = time_ns;
		crit_emitter_post(&tracer->emitter, &emitted);
	}
	return tracer->emitter.error;
}

int crit_tracer_sample(void *user, uint32_t thread, uint64_t time_ns,
		       const struct crit_trace_sample *sample)
{
	struct crit_tracer *tracer = user;

	if (told_at(tracer, thread, &time_ns))
		return crit_emitter_sample(&tracer->emitter, thread, time_ns, sample);
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

static int on_block(void *user, const struct crit_event *event)
{
	struct crit_tracer *tracer = user;
	const struct crit_kernel_call *call = event->system_call;
	const bool is_known = call && call->number >= 0 && !(call->flags & CRIT_CALL_COMPAT);
	struct crit_event told = *event;

	told.arg = is_known ? (uint64_t)call->number + 1 : 0;
	return tracer->has_blocks ? pass_on(tracer, &told, CRIT_EMIT_BLOCK) : 0;
}

static int on_finalize_enter(void *user, const struct crit_event *event)
{
	struct crit_tracer *tracer = user;

	crit_tracer_setups_finalize(&tracer->setups, event->thread, true, event->arg,
				    event->time_ns);
	return tracer->emitter.error;
}

static int on_finalize_leave(void *user, const struct crit_event *event)
{
	struct crit_tracer *tracer = user;

	crit_tracer_setups_finalize(&tracer->setups, event->thread, false, event->arg,
				    event->time_ns);
	return tracer->emitter.error;
}

static void soon(void *user, uint32_t thread, bool is_near)
{
	const struct crit_tracer *tracer = user;

	if (!is_near)
		__builtin_prefetch(&tracer->views[thread], 1);
	crit_emitter_soon(&tracer->emitter, thread, is_near);
}

static int listen(struct crit_tracer *tracer, struct crit_engine *engine)
{
	const struct crit_listener listener = {
		.user = tracer,
		.soon = soon,
		.on = {
			[CRIT_EVENT_THREAD] = on_thread,
			[CRIT_EVENT_ENTER] = on_enter,
			[CRIT_EVENT_LEAVE] = on_leave,
			[CRIT_EVENT_BASE_ENDS] = tracer->has_sums ? on_base_ends : NULL,
			[CRIT_EVENT_BASE_BEGINS] = tracer->has_sums ? on_base_begins : NULL,
			[CRIT_EVENT_BLOCK] = on_block,
			[CRIT_EVENT_RELEASE] = on_release,
			[CRIT_EVENT_TASK] = on_task,
			[CRIT_EVENT_FINALIZE_ENTER] = on_finalize_enter,
			[CRIT_EVENT_FINALIZE_LEAVE] = on_finalize_leave,
		},
	};

	return crit_listeners_add(&engine->listeners, &listener);
}

static int init(struct crit_tracer *tracer, struct crit_engine *engine,
		const struct crit_identity *identity, const struct crit_trace_sink *sink,
		const struct crit_emitter_queue *queue)
{
	const struct crit_model *model = engine->model;
	int rc = crit_emitter_init(&tracer->emitter, model, identity, sink, queue);

	tracer->engine = engine;
	tracer->has_states = sink->state && (sink->has_rank_states || !model->rank_count);
	tracer->has_blocks = sink->block && !model->rank_count;
	tracer->has_sums = !sink->has_no_sums;
	if (!rc)
		rc = crit_tracer_setups_init(&tracer->setups, engine, &tracer->emitter);
	tracer->run = calloc(1, sizeof(*tracer->run));
	tracer->views = calloc(model->thread_count + 1, sizeof(*tracer->views));
	if (!rc && (!tracer->run || !tracer->views))
		rc = -ENOMEM;
	if (!rc)
		rc = crit_identity_fill(identity, model, tracer->run);
	for (size_t i = 0; i < model->thread_count && !rc; i++)
		tracer->views[i].is_traced = sink->has_all ||
					     (model->threads[i].role == CRIT_THREAD_APP &&
					      model->threads[i].window != CRIT_NONE);
	return rc ? rc : listen(tracer, engine);
}

int crit_tracer_create(struct crit_engine *engine, const struct crit_identity *identity,
		       const struct crit_trace_sink *sink, const struct crit_emitter_queue *queue,
		       struct crit_tracer **ret_tracer)
{
	struct crit_tracer *tracer = calloc(1, sizeof(*tracer));
	int rc = tracer ? init(tracer, engine, identity, sink, queue) : -ENOMEM;

	if (rc)
		crit_tracer_destroy(tracer);
	else
		*ret_tracer = tracer;
	return rc;
}

struct crit_emitter *crit_tracer_emitter(struct crit_tracer *tracer)
{
	return &tracer->emitter;
}

int crit_tracer_begin(struct crit_tracer *tracer)
{
	return crit_emitter_begin(&tracer->emitter, tracer->run);
}

int crit_tracer_end_setups(struct crit_tracer *tracer)
{
	struct crit_emitter *emitter = &tracer->emitter;

	if (emitter->error)
		return emitter->error;
	return crit_emitter_keep_error(emitter, crit_tracer_setups_end(&tracer->setups));
}

int crit_tracer_end(struct crit_tracer *tracer, const struct crit_results *results,
		    bool are_messages_whole)
{
	return crit_emitter_end(&tracer->emitter, results, are_messages_whole);
}
