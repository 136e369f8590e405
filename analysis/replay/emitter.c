// SPDX-License-Identifier: BSD-3-Clause
// Emits threads, spans and messages to the sink, once their attribution is known.
#include "analysis/replay/emitter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/identity/identity.h"
#include "analysis/model/model.h"
#include "analysis/replay/emitter_state.h"

struct span { /* a frame of the engine's, or the time outside all */
	const struct crit_bucket *bucket;
	uint64_t arg;
	uint16_t call;
	uint8_t span_class;
	bool is_told;
};

struct earned { /* by a span */
	struct crit_trace_sums own; /* so far */
	uint64_t seen_cmetric_ns, seen_all_waiting_ns; /* of its bucket, when last looked at */
};

struct crit_emitter_thread { /* there while it is told of */
	uint64_t total_cmetric_ns;
	uint32_t depth; /* as the engine's when last looked at */
	struct span *spans; /* 0: outside all */
	size_t span_capacity;
	struct earned *earned; /* likewise; NULL: the sink does not look at sums */
	size_t earned_capacity;
};

static void forget(struct crit_emitter *emitter, uint32_t thread)
{
	if (emitter->threads[thread]) {
		free(emitter->threads[thread]->spans);
		free(emitter->threads[thread]->earned);
	}
	free(emitter->threads[thread]);
	emitter->threads[thread] = NULL;
}

int crit_emitter_init(struct crit_emitter *emitter, const struct crit_model *model,
		      const struct crit_identity *identity, const struct crit_trace_sink *sink,
		      const struct crit_emitter_queue *queue)
{
	*emitter = (struct crit_emitter){ .sink = sink,
					  .model = model,
					  .queue = queue,
					  .thread_rows = crit_identity_thread_rows(identity),
					  .begin_ns = model->window_begin_ns,
					  .end_ns = crit_model_traced_until_ns(model) };
	emitter->threads = calloc(model->thread_count + 1, sizeof(void *));
	return emitter->threads ? 0 : -ENOMEM;
}

void crit_emitter_fini(struct crit_emitter *emitter)
{
	for (size_t i = 0; emitter->threads && i < emitter->model->thread_count; i++)
		forget(emitter, (uint32_t)i);
	free(emitter->threads);
	*emitter = (struct crit_emitter){ 0 };
}

int crit_emitter_begin(struct crit_emitter *emitter, const struct crit_results *run)
{
	const struct crit_trace_sink *sink = emitter->sink;
	int rc = sink->begin ? sink->begin(sink->user, run, emitter->end_ns) : 0;

	return rc < 0 ? rc : 0;
}

static inline uint64_t cmetric_of(const struct crit_bucket *bucket)
{
	return (uint64_t)(bucket->attributed.cmetric[CRIT_UNIT_THREADS] >> 64);
}

static inline uint64_t all_waiting_of(const struct crit_bucket *bucket)
{
	return (uint64_t)(bucket->attributed.all_waiting[CRIT_UNIT_THREADS] >> 64);
}

/* What the innermost span earns from now on is its own. */
static inline void mark(struct crit_emitter_thread *told)
{
	const struct crit_bucket *bucket = told->spans[told->depth].bucket;

	if (!told->earned)
		return;
	told->earned[told->depth].seen_cmetric_ns = cmetric_of(bucket);
	told->earned[told->depth].seen_all_waiting_ns = all_waiting_of(bucket);
}

/* The same of the time outside all spans, whose bucket may be another now. */
static void mark_outside(struct crit_emitter_thread *told, const struct crit_bucket *bucket)
{
	told->spans[0].bucket = bucket;
	mark(told);
}

/* Credits the innermost span with what it earned since it was last looked at. */
static inline void look(struct crit_emitter_thread *told, const struct crit_emitter_event *event)
{
	const struct crit_bucket *bucket = told->spans[told->depth].bucket;
	struct earned *earned;
	uint64_t cmetric_ns;

	if (!told->earned)
		return;
	earned = &told->earned[told->depth];
	cmetric_ns = cmetric_of(bucket) - earned->seen_cmetric_ns;
	earned->own.cmetric_ns += cmetric_ns;
	earned->own.all_waiting_ns += all_waiting_of(bucket) - earned->seen_all_waiting_ns;
#pragma GCC unroll 8 /* all of it: without jumps it is half as long */
	for (int state = 0; state < CRIT_STATE_COUNT; state++)
		earned->own.state_ns[state] += event->earned_ns[state];
	told->total_cmetric_ns += cmetric_ns;
}

/* Time in a span that is not told of lies outside those that are. */
static void credit_outside(struct crit_emitter_thread *told, const struct crit_trace_sums *sums)
{
	struct crit_trace_sums *outside = &told->earned[0].own;

	outside->cmetric_ns += sums->cmetric_ns;
	outside->all_waiting_ns += sums->all_waiting_ns;
	for (int state = 0; state < CRIT_STATE_COUNT; state++)
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
static void emit_leaves(struct crit_emitter *emitter, const struct crit_emitter_event *event,
			uint32_t depth)
{
	const struct crit_trace_sink *sink = emitter->sink;
	struct crit_emitter_thread *told = emitter->threads[event->thread];
	struct crit_trace_sums none = { 0 };
	bool is_cut = event->time_ns > emitter->end_ns;

	for (; told->depth > depth; told->depth--) {
		struct span *ended = &told->spans[told->depth];
		struct crit_trace_span span = span_of(ended);
		struct crit_trace_sums *sums = told->earned ? &told->earned[told->depth].own
							    : &none;
		int (*leave)(void *, uint32_t, uint64_t, const struct crit_trace_span *,
			     const struct crit_trace_sums *) = ended->is_told ? sink->leave
									      : sink->inside_leave;

		sums->total_cmetric_ns = told->total_cmetric_ns;
		sums->is_idle = event->bucket &&
				event->bucket->key.span_class == CRIT_CLASS_OMP_IDLE;
		if (!ended->is_told && told->earned)
			credit_outside(told, sums);
		if (leave)
			crit_emitter_keep_error(
				emitter, leave(sink->user, emitter->thread_rows[event->thread],
					       is_cut ? emitter->end_ns : event->time_ns, &span,
					       is_cut ? NULL : sums));
	}
}

/* Room for so many spans, and the time outside all.  Errors: -ENOMEM. */
static inline int grow(const struct crit_emitter *emitter, struct crit_emitter_thread *told,
		       uint32_t depth)
{
	int rc = crit_array_grow(&told->spans, &told->span_capacity, depth + 1u,
				 sizeof(*told->spans));

	if (rc || emitter->sink->has_no_sums)
		return rc;
	return crit_array_grow(&told->earned, &told->earned_capacity, depth + 1u,
			       sizeof(*told->earned));
}

/* One more span becomes the innermost.  Errors: -ENOMEM. */
static int push(const struct crit_emitter *emitter, struct crit_emitter_thread *told,
		const struct crit_emitter_event *event)
{
	int rc = grow(emitter, told, told->depth + 1);

	if (rc)
		return rc;
	told->spans[++told->depth] = (struct span){ .bucket = event->bucket,
						    .arg = event->arg,
						    .call = event->call,
						    .span_class = event->span_class,
						    .is_told = event->kind == CRIT_EMIT_ENTER };
	if (told->earned)
		told->earned[told->depth] = (struct earned){ .own = { .polled = event->polled } };
	mark(told);
	return 0;
}

static int begin_thread(struct crit_emitter *emitter, const struct crit_emitter_event *event)
{
	const struct crit_trace_sink *sink = emitter->sink;
	struct crit_emitter_thread *told = calloc(1, sizeof(*told));

	emitter->threads[event->thread] = told;
	if (!told || grow(emitter, told, 0))
		return -ENOMEM;
	mark_outside(told, event->bucket);
	return sink->thread_begin
		       ? sink->thread_begin(sink->user, emitter->thread_rows[event->thread],
					    event->time_ns)
		       : 0;
}

/* After the end of all spans nobody knows what was earned until then. */
static int end_thread(struct crit_emitter *emitter, const struct crit_emitter_event *event)
{
	const struct crit_trace_sink *sink = emitter->sink;
	struct crit_emitter_thread *told = emitter->threads[event->thread];
	struct crit_trace_sums sums = { 0 };
	bool is_cut = event->time_ns > emitter->end_ns;
	int rc = 0;

	look(told, event);
	emit_leaves(emitter, event, 0);
	if (told->earned)
		sums = told->earned[0].own;
	sums.total_cmetric_ns = told->total_cmetric_ns;
	if (sink->thread_end)
		rc = sink->thread_end(sink->user, emitter->thread_rows[event->thread],
				      is_cut ? emitter->end_ns : event->time_ns,
				      is_cut ? NULL : &sums);
	forget(emitter, event->thread);
	return rc;
}

/* A span begins, or the thread is in it when it is first told of. */
static int enter(struct crit_emitter *emitter, const struct crit_emitter_event *event)
{
	const struct crit_trace_sink *sink = emitter->sink;
	struct crit_emitter_thread *told = emitter->threads[event->thread];
	const bool is_new = event->kind == CRIT_EMIT_ENTER;
	int (*tell)(void *, uint32_t, uint64_t, const struct crit_trace_span *, uint64_t) =
		is_new ? sink->enter : sink->inside_enter;
	struct crit_trace_span span;
	int rc;

	if (is_new)
		look(told, event);
	rc = push(emitter, told, event);
	if (rc || !tell)
		return rc;
	span = span_of(&told->spans[told->depth]);
	return tell(sink->user, emitter->thread_rows[event->thread], event->time_ns, &span,
		    told->total_cmetric_ns);
}

static int emit_setup(const struct crit_emitter *emitter, const struct crit_emitter_event *event)
{
	const struct crit_trace_sink *sink = emitter->sink;
	const struct crit_trace_setup setup = { .begin_ns = event->polled,
						.end_ns = event->time_ns,
						.site = event->arg,
						.call = event->call };

	return sink->setup ? sink->setup(sink->user, emitter->thread_rows[event->thread], &setup)
			   : 0;
}

static int emit_sample(const struct crit_emitter *emitter, const struct crit_emitter_event *event)
{
	const struct crit_trace_sink *sink = emitter->sink;
	const struct crit_trace_sample sample = { .address = event->arg, .cpu_ns = event->polled };

	return sink->sample(sink->user, emitter->thread_rows[event->thread], event->time_ns,
			    &sample);
}

int crit_emitter_emit(struct crit_emitter *emitter, const struct crit_emitter_event *event)
{
	const struct crit_trace_sink *sink = emitter->sink;
	struct crit_emitter_thread *told = emitter->threads[event->thread];

	switch ((enum crit_emitter_event_kind)event->kind) {
	case CRIT_EMIT_BEGIN:
		return begin_thread(emitter, event);
	case CRIT_EMIT_INSIDE:
	case CRIT_EMIT_ENTER:
		return enter(emitter, event);
	case CRIT_EMIT_LEAVE:
		look(told, event);
		emit_leaves(emitter, event, event->depth);
		if (told->depth)
			mark(told);
		else
			mark_outside(told, event->bucket);
		return 0;
	case CRIT_EMIT_LOOK:
		look(told, event);
		return 0;
	case CRIT_EMIT_MARK:
		mark_outside(told, event->bucket);
		return 0;
	case CRIT_EMIT_STATE:
		return sink->state(sink->user, emitter->thread_rows[event->thread], event->time_ns,
				   (enum crit_kernel_state)event->arg, event->polled);
	case CRIT_EMIT_BLOCK:
		return sink->block(sink->user, emitter->thread_rows[event->thread], event->time_ns,
				   (int)event->arg - 1);
	case CRIT_EMIT_RELEASE:
		return sink->release
			       ? sink->release(sink->user, emitter->thread_rows[event->thread],
					       event->time_ns, event->call, event->arg)
			       : 0;
	case CRIT_EMIT_TASK:
		return sink->task ? sink->task(sink->user, emitter->thread_rows[event->thread],
					       event->time_ns, event->call, event->arg)
				  : 0;
	case CRIT_EMIT_SAMPLE:
		return emit_sample(emitter, event);
	case CRIT_EMIT_SETUP:
		return emit_setup(emitter, event);
	default:
		return end_thread(emitter, event);
	}
}

void crit_emitter_soon(const struct crit_emitter *emitter, uint32_t thread, bool is_near)
{
	const struct crit_trace_sink *sink = emitter->sink;
	const struct crit_emitter_thread *told = emitter->threads[thread];

	if (told && is_near)
		crit_lines_fetch(told->spans, 2 * sizeof(*told->spans));
	else if (told)
		__builtin_prefetch(told, 1);
	if (told && sink->soon)
		sink->soon(sink->user, emitter->thread_rows[thread], is_near);
}

void crit_emitter_post(struct crit_emitter *emitter, const struct crit_emitter_event *event)
{
	int rc;

	if (emitter->error)
		return;
	rc = emitter->queue ? emitter->queue->put(emitter->queue->user, event)
			    : crit_emitter_emit(emitter, event);
	crit_emitter_keep_error(emitter, rc);
}

int crit_emitter_pass_message(struct crit_emitter *emitter, uint32_t thread, uint64_t time_ns,
			      const struct crit_trace_message *message)
{
	const struct crit_trace_sink *sink = emitter->sink;

	if (sink->message)
		crit_emitter_keep_error(emitter,
					sink->message(sink->user, emitter->thread_rows[thread],
						      time_ns, message));
	return emitter->error;
}

/* What lies outside a thread's part, or after the end, is told to nobody. */
int crit_emitter_message(void *user, uint32_t thread, uint64_t time_ns,
			 const struct crit_trace_message *message)
{
	struct crit_emitter *emitter = user;

	if (time_ns < emitter->begin_ns)
		time_ns = emitter->begin_ns;
	if (!emitter->threads[thread] || time_ns > emitter->end_ns)
		return emitter->error;
	return crit_emitter_pass_message(emitter, thread, time_ns, message);
}

int crit_emitter_communicator(void *user, const struct crit_trace_communicator *communicator)
{
	struct crit_emitter *emitter = user;
	const struct crit_trace_sink *sink = emitter->sink;

	if (sink->communicator)
		crit_emitter_keep_error(emitter, sink->communicator(sink->user, communicator));
	return emitter->error;
}

int crit_emitter_sample(struct crit_emitter *emitter, uint32_t thread, uint64_t time_ns,
			const struct crit_trace_sample *sample)
{
	const struct crit_trace_sink *sink = emitter->sink;

	if (emitter->queue) {
		crit_emitter_post(emitter,
				  &(struct crit_emitter_event){ .time_ns = time_ns,
								.arg = sample->address,
								.polled = sample->cpu_ns,
								.thread = thread,
								.kind = CRIT_EMIT_SAMPLE });
		return emitter->error;
	}
	return crit_emitter_keep_error(
		emitter, sink->sample(sink->user, emitter->thread_rows[thread], time_ns, sample));
}

int crit_emitter_end(struct crit_emitter *emitter, const struct crit_results *results,
		     bool are_messages_whole)
{
	const struct crit_trace_sink *sink = emitter->sink;

	if (!emitter->error && sink->end)
		crit_emitter_keep_error(emitter,
					sink->end(sink->user, results, are_messages_whole));
	return emitter->error;
}
