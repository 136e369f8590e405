// SPDX-License-Identifier: BSD-3-Clause
// Matches wakeups with wakers, and acquisitions of locks with releases.
#include "analysis/replay/thread_edges.h"
#include "analysis/replay/task_edges.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/call.h"
#include "core/base/hash.h"

struct acquisition { /* of a lock */
	uint64_t begin_ns, end_ns; /* of the wait for it */
	uint32_t thread; /* CRIT_NONE: none */
};

struct crit_lock_state {
	uint64_t lock;
	uint32_t process;
	uint16_t call; /* of the wait for it */
	uint32_t holder; /* thread, or CRIT_NONE */
	uint32_t releaser; /* nobody has acquired it since: thread, or CRIT_NONE */
	uint64_t released_ns;
	struct acquisition early; /* told of before the release that allowed it */
	uint32_t early_holder; /* who is to tell of that */
};

struct crit_thread_edges {
	struct crit_engine *engine;
	uint32_t asleep; /* thread that the present record may wake, or CRIT_NONE */
	uint32_t waker;
	uint64_t asleep_since_ns;
	uint64_t acted_ns; /* the waker */
	uint32_t *depths; /* by thread: open spans; NULL: nobody wants edges of locks or tasks */
	struct crit_task_edges *tasks; /* NULL: nobody wants these */
	struct crit_lock_state *locks;
	size_t lock_count, lock_capacity;
	struct crit_index places; /* process, call and lock -> index into locks */
};

void crit_thread_edges_before(struct crit_thread_edges *edges,
			      const struct crit_sched_state *sched_state,
			      const union crit_kernel_record *record)
{
	const struct crit_thread *threads = sched_state->model->threads;
	const struct crit_kernel_wake *wake = &record->wake;
	uint32_t thread, waker;

	edges->asleep = CRIT_NONE;
	if (!crit_kernel_is_wake(record->head.kind) ||
	    !crit_listeners_want(&edges->engine->listeners, CRIT_EDGE_WAKEUP))
		return;
	thread = crit_sched_state_find(sched_state, wake->tid);
	if (thread == CRIT_NONE || threads[thread].belief != CRIT_STATE_BLOCKED ||
	    edges->engine->accounts[thread].state != CRIT_STATE_BLOCKED)
		return;
	waker = crit_sched_state_find(sched_state, wake->waker_tid);
	if (!wake->waker_tid) /* the kernel lets none but its creator wake a new thread */
		waker = record->head.kind == CRIT_K_WAKE_NEW ? threads[thread].creator : CRIT_NONE;
	if (waker == CRIT_NONE)
		return;
	edges->acted_ns = record->head.time_ns;
	if (threads[waker].belief == CRIT_STATE_NONE) {
		/* another CPU did it: it has ended meanwhile, or it is not born and did nothing */
		if (threads[waker].death_ns > edges->acted_ns)
			return;
		edges->acted_ns = threads[waker].death_ns;
	}
	edges->asleep = thread;
	edges->asleep_since_ns = threads[thread].last_ns;
	edges->waker = waker;
}

void crit_thread_edges_after(const struct crit_thread_edges *edges,
			     const struct crit_sched_state *sched_state,
			     const union crit_kernel_record *record)
{
	const struct crit_transition *out = sched_state->out;
	uint64_t time_ns = record->head.time_ns;

	if (edges->asleep == CRIT_NONE || !sched_state->out_count || out->thread != edges->asleep ||
	    out->state != CRIT_STATE_RUNNABLE)
		return;
	crit_listeners_tell_edge(&edges->engine->listeners,
				 &(struct crit_edge){ .begin_ns = edges->asleep_since_ns,
						      .end_ns = time_ns,
						      .cause_ns = edges->acted_ns,
						      .waiter = edges->asleep,
						      .cause = edges->waker,
						      .kind = CRIT_EDGE_WAKEUP });
}

/* The lock's state, a new one if it has none.  NULL: error is set, or there are too many. */
static struct crit_lock_state *lock_of(struct crit_thread_edges *edges, uint32_t thread,
				       uint16_t call, uint64_t lock)
{
	uint32_t process = edges->engine->model->threads[thread].process;
	uint64_t hash = crit_hash_mix(crit_hash_mix(lock, call), process);
	struct crit_probe probe;
	uint32_t at = crit_index_first(&edges->places, hash, &probe);
	int rc;

	for (; at != CRIT_NONE; at = crit_index_next(&edges->places, &probe)) {
		struct crit_lock_state *state = &edges->locks[at];

		if (state->lock == lock && state->call == call && state->process == process)
			return state;
	}
	if (edges->lock_count == CRIT_LOCKS_MAX)
		return NULL;
	at = (uint32_t)edges->lock_count;
	rc = crit_array_grow(&edges->locks, &edges->lock_capacity, at + 1ull,
			     sizeof(*edges->locks));
	if (!rc)
		rc = crit_index_put(&edges->places, hash, at);
	if (rc) {
		edges->engine->error = rc;
		return NULL;
	}
	edges->lock_count++;
	edges->locks[at] = (struct crit_lock_state){ .lock = lock,
						     .process = process,
						     .call = call,
						     .holder = CRIT_NONE,
						     .releaser = CRIT_NONE,
						     .early.thread = CRIT_NONE };
	return &edges->locks[at];
}

static void tell(const struct crit_thread_edges *edges, const struct crit_lock_state *state,
		 const struct acquisition *by, uint32_t releaser, uint64_t released_ns)
{
	if (by->thread == releaser)
		return;
	crit_listeners_tell_edge(&edges->engine->listeners,
				 &(struct crit_edge){ .begin_ns = by->begin_ns,
						      .end_ns = by->end_ns,
						      .cause_ns = released_ns,
						      .object = state->lock,
						      .waiter = by->thread,
						      .cause = releaser,
						      .call = state->call,
						      .kind = CRIT_EDGE_LOCK });
}

/* What a thread does with a lock, for those who follow its holders. */
static void tell_use(const struct crit_thread_edges *edges, const struct crit_lock_state *state,
		     const struct acquisition *by, enum crit_edge_kind kind)
{
	if (!crit_listeners_want(&edges->engine->listeners, kind))
		return;
	crit_listeners_tell_edge(&edges->engine->listeners,
				 &(struct crit_edge){ .begin_ns = by->begin_ns,
						      .end_ns = by->end_ns,
						      .cause_ns = by->end_ns,
						      .object = (uint64_t)(state - edges->locks),
						      .waiter = by->thread,
						      .cause = by->thread,
						      .call = state->call,
						      .kind = (uint8_t)kind });
}

static void acquire(const struct crit_thread_edges *edges, struct crit_lock_state *state,
		    const struct acquisition *by)
{
	if (state->releaser != CRIT_NONE) {
		tell(edges, state, by, state->releaser, state->released_ns);
	} else if (state->holder != CRIT_NONE && state->holder != by->thread) {
		state->early = *by;
		state->early_holder = state->holder;
	}
	state->holder = by->thread;
	state->releaser = CRIT_NONE;
	tell_use(edges, state, by, CRIT_EDGE_LOCK_TAKEN);
}

static void release(const struct crit_thread_edges *edges, struct crit_lock_state *state,
		    uint32_t thread, uint64_t time_ns)
{
	if (state->early.thread != CRIT_NONE && state->early_holder == thread) {
		tell(edges, state, &state->early, thread, time_ns);
		state->early.thread = CRIT_NONE;
		return;
	}
	state->releaser = thread;
	state->released_ns = time_ns;
	state->holder = CRIT_NONE;
	tell_use(edges, state, &(struct acquisition){ time_ns, time_ns, thread },
		 CRIT_EDGE_LOCK_RELEASED);
}

static bool is_wait_for_lock(uint32_t call)
{
	return call == CRIT_CONSTRUCT_LOCK_WAIT || call == CRIT_CONSTRUCT_NEST_LOCK_WAIT ||
	       call == CRIT_CONSTRUCT_CRITICAL_WAIT || call == CRIT_CONSTRUCT_ORDERED_WAIT ||
	       call == CRIT_CONSTRUCT_ATOMIC_WAIT;
}

/* The wait for what a thread holds during a span, 0: it holds nothing. */
static uint16_t wait_before(uint32_t call)
{
	if (call == CRIT_CONSTRUCT_CRITICAL)
		return CRIT_CONSTRUCT_CRITICAL_WAIT;
	return call == CRIT_CONSTRUCT_ORDERED ? CRIT_CONSTRUCT_ORDERED_WAIT : 0;
}

/* A span of a construct has ended.  is_told: its own end was, not that of one around it. */
static void end_span(struct crit_thread_edges *edges, uint32_t thread,
		     const struct crit_span_frame *frame, uint64_t time_ns, bool is_told)
{
	bool is_wait = is_wait_for_lock(frame->call);
	uint16_t call = is_wait ? frame->call : wait_before(frame->call);
	struct crit_lock_state *state =
		call && frame->arg ? lock_of(edges, thread, call, frame->arg) : NULL;
	const struct acquisition by = { frame->enter_ns, time_ns, thread };

	if (!state)
		return;
	if (!is_told) { /* when it was had, or released, nobody knows */
		state->holder = CRIT_NONE;
		state->releaser = CRIT_NONE;
		state->early.thread = CRIT_NONE;
		tell_use(edges, state, &by, CRIT_EDGE_LOCK_LOST);
	} else if (is_wait) {
		acquire(edges, state, &by);
	} else {
		release(edges, state, thread, time_ns);
	}
}

/* Where short waits are not recorded, who has a lock is not known. */
static bool is_folding(const struct crit_thread_edges *edges, const struct crit_event *event)
{
	const struct crit_model *model = edges->engine->model;

	return crit_model_is_folding(&model->nodes[model->threads[event->thread].node],
				     event->time_ns);
}

static int on_enter(void *user, const struct crit_event *event)
{
	struct crit_thread_edges *edges = user;
	const struct crit_thread_account *thread = &edges->engine->accounts[event->thread];
	const struct crit_span_frame *frame = &thread->spans[thread->depth - 1];
	const struct acquisition by = { event->time_ns, event->time_ns, event->thread };
	struct crit_lock_state *state;

	edges->depths[event->thread] = thread->depth;
	if (frame->call < CRIT_CALL_OMP_FIRST)
		return 0;
	if (edges->tasks && frame->call == CRIT_CONSTRUCT_TASK)
		crit_task_edges_begin(edges->tasks, event->thread, frame->arg, event->time_ns);
	if (!is_wait_for_lock(frame->call) || !frame->arg || is_folding(edges, event))
		return 0;
	state = lock_of(edges, event->thread, frame->call, frame->arg);
	if (state)
		tell_use(edges, state, &by, CRIT_EDGE_LOCK_ASKED);
	return 0;
}

static int on_leave(void *user, const struct crit_event *event)
{
	struct crit_thread_edges *edges = user;
	const struct crit_thread_account *thread = &edges->engine->accounts[event->thread];
	uint32_t before = edges->depths[event->thread];

	edges->depths[event->thread] = thread->depth;
	for (uint32_t depth = before; depth > thread->depth; depth--) {
		const struct crit_span_frame *frame = &thread->spans[depth - 1];

		if (frame->call < CRIT_CALL_OMP_FIRST || is_folding(edges, event))
			continue;
		if (edges->tasks)
			crit_task_edges_leave(edges->tasks, event->thread, frame, event->time_ns);
		end_span(edges, event->thread, frame, event->time_ns, before == thread->depth + 1);
	}
	return 0;
}

static int on_release(void *user, const struct crit_event *event)
{
	struct crit_thread_edges *edges = user;
	struct crit_lock_state *state =
		event->arg && !is_folding(edges, event)
			? lock_of(edges, event->thread, event->call, event->arg)
			: NULL;

	if (state)
		release(edges, state, event->thread, event->time_ns);
	return 0;
}

static int on_task(void *user, const struct crit_event *event)
{
	struct crit_thread_edges *edges = user;

	return crit_task_edges_note(edges->tasks, event);
}

/* Errors: -ENOMEM, -ENOSPC. */
static int listen(struct crit_thread_edges *edges)
{
	const struct crit_listener listener = {
		.user = edges,
		.on = { [CRIT_EVENT_ENTER] = on_enter,
			[CRIT_EVENT_LEAVE] = on_leave,
			[CRIT_EVENT_RELEASE] = on_release,
			[CRIT_EVENT_TASK] = edges->tasks ? on_task : NULL },
	};

	edges->depths = calloc(edges->engine->model->thread_count + 1, sizeof(*edges->depths));
	return edges->depths ? crit_listeners_add(&edges->engine->listeners, &listener) : -ENOMEM;
}

int crit_thread_edges_create(struct crit_engine *engine, struct crit_thread_edges **ret_edges)
{
	bool has_locks = crit_listeners_want(&engine->listeners, CRIT_EDGE_LOCK) ||
			 crit_listeners_want(&engine->listeners, CRIT_EDGE_LOCK_TAKEN);
	bool has_tasks = crit_listeners_want(&engine->listeners, CRIT_EDGE_TASK);
	struct crit_thread_edges *edges;
	int rc;

	*ret_edges = NULL;
	if (!has_locks && !has_tasks && !crit_listeners_want(&engine->listeners, CRIT_EDGE_WAKEUP))
		return 0;
	edges = calloc(1, sizeof(*edges));
	if (!edges)
		return -ENOMEM;
	edges->engine = engine;
	edges->asleep = CRIT_NONE;
	rc = has_tasks ? crit_task_edges_create(engine, &edges->tasks) : 0;
	if (!rc && (has_locks || has_tasks))
		rc = listen(edges);
	if (rc)
		crit_thread_edges_destroy(edges);
	else
		*ret_edges = edges;
	return rc;
}

void crit_thread_edges_destroy(struct crit_thread_edges *edges)
{
	if (!edges)
		return;
	crit_task_edges_destroy(edges->tasks);
	free(edges->depths);
	free(edges->locks);
	crit_index_fini(&edges->places);
	free(edges);
}
