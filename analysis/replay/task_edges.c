// SPDX-License-Identifier: BSD-3-Clause
// Follows which task made which, and who ended them.
#include "analysis/replay/task_edges.h"

#include <errno.h>
#include <stdlib.h>

#include "core/abi/abi_slot.h"
#include "core/base/call.h"
#include "core/base/hash.h"

struct end {
	uint64_t time_ns;
	uint32_t thread; /* CRIT_NONE: of none */
};

/* An explicit task, or what a thread does outside of these. */
struct task_end {
	uint64_t number;
	uint32_t process;
	uint32_t maker; /* row; CRIT_NONE */
	uint32_t made; /* tasks that are not forgotten */
	uint32_t around; /* the task that the thread is in again when this one ends */
	bool is_begun, is_over, is_paused;
	struct end birth; /* when it was made, and where */
	struct end last_child, last_descendant;
};

struct crit_task_edges {
	struct crit_engine *engine;
	struct task_end *rows; /* first of each thread */
	size_t count, capacity;
	struct crit_index places; /* process and number -> row */
	uint32_t *current; /* by thread: row of the task that it is in */
	uint64_t *ended_ns; /* by thread: when it ended a task last */
	uint32_t *unused;
	size_t unused_count, unused_capacity;
};

static const struct task_end nothing = { .maker = CRIT_NONE,
					 .around = CRIT_NONE,
					 .last_child.thread = CRIT_NONE,
					 .last_descendant.thread = CRIT_NONE };

int crit_task_edges_create(struct crit_engine *engine, struct crit_task_edges **ret_edges)
{
	const size_t threads = engine->model->thread_count;
	struct crit_task_edges *edges = calloc(1, sizeof(*edges));

	if (!edges)
		return -ENOMEM;
	edges->engine = engine;
	edges->current = calloc(threads + 1, sizeof(*edges->current));
	edges->ended_ns = calloc(threads + 1, sizeof(*edges->ended_ns));
	if (!edges->current || !edges->ended_ns ||
	    crit_array_grow(&edges->rows, &edges->capacity, threads + 1, sizeof(*edges->rows))) {
		crit_task_edges_destroy(edges);
		return -ENOMEM;
	}
	for (; edges->count < threads; edges->count++) {
		edges->rows[edges->count] = nothing;
		edges->current[edges->count] = (uint32_t)edges->count;
	}
	*ret_edges = edges;
	return 0;
}

void crit_task_edges_destroy(struct crit_task_edges *edges)
{
	if (!edges)
		return;
	crit_index_fini(&edges->places);
	free(edges->rows);
	free(edges->current);
	free(edges->ended_ns);
	free(edges->unused);
	free(edges);
}

static uint64_t hash_of(uint32_t process, uint64_t number)
{
	return crit_hash_mix(number, (uint64_t)process << 40);
}

/* CRIT_NONE: there is none, or nobody told who made it. */
static uint32_t find(const struct crit_task_edges *edges, uint32_t thread, uint64_t number,
		     struct crit_probe *ret_probe)
{
	const uint32_t process = edges->engine->model->threads[thread].process;
	uint32_t at = crit_index_first(&edges->places, hash_of(process, number), ret_probe);

	while (at != CRIT_NONE &&
	       (edges->rows[at].number != number || edges->rows[at].process != process))
		at = crit_index_next(&edges->places, ret_probe);
	return at;
}

static int make(struct crit_task_edges *edges, uint32_t thread, uint64_t number, uint64_t time_ns)
{
	const uint32_t process = edges->engine->model->threads[thread].process;
	uint32_t at = (uint32_t)edges->count;
	int rc = crit_array_grow(&edges->unused, &edges->unused_capacity, edges->count + 1,
				 sizeof(*edges->unused));

	if (!rc && !edges->unused_count)
		rc = crit_array_grow(&edges->rows, &edges->capacity, edges->count + 1,
				     sizeof(*edges->rows));
	if (rc)
		return rc;
	if (edges->unused_count)
		at = edges->unused[--edges->unused_count];
	else
		edges->count++;
	edges->rows[at] = nothing;
	edges->rows[at].number = number;
	edges->rows[at].process = process;
	edges->rows[at].birth = (struct end){ time_ns, thread };
	edges->rows[at].maker = edges->current[thread];
	edges->rows[edges->current[thread]].made++;
	return crit_index_put(&edges->places, hash_of(process, number), at);
}

/* A task that is over, and all it made, needs no row. */
static void forget(struct crit_task_edges *edges, uint32_t at)
{
	while (edges->rows[at].is_over && !edges->rows[at].made) {
		const uint32_t maker = edges->rows[at].maker;

		edges->unused[edges->unused_count++] = at;
		edges->rows[maker].made--;
		at = maker;
	}
}

int crit_task_edges_note(struct crit_task_edges *edges, const struct crit_event *event)
{
	struct crit_probe probe;
	const uint32_t at = find(edges, event->thread, event->arg, &probe);

	if (event->call != CRIT_OMP_TASK_PAUSED)
		return at == CRIT_NONE ? make(edges, event->thread, event->arg, event->time_ns) : 0;
	if (at != CRIT_NONE)
		edges->rows[at].is_paused = true;
	return 0;
}

/*
 * A thread that waits begins a task: it could not before that was made, nor where tasks depend on
 * each other before the last one of the same maker was over.
 */
static void tell_ready(const struct crit_task_edges *edges, uint32_t thread,
		       const struct task_end *task, uint64_t time_ns)
{
	const struct crit_thread_account *account = &edges->engine->accounts[thread];
	const struct end *sibling = &edges->rows[task->maker].last_child, *last = &task->birth;
	const struct crit_span_frame *around;
	uint64_t begin_ns;

	if (account->depth < 2)
		return;
	around = &account->spans[account->depth - 2];
	begin_ns = around->enter_ns > edges->ended_ns[thread] ? around->enter_ns
							      : edges->ended_ns[thread];
	if (sibling->thread != CRIT_NONE && sibling->time_ns > last->time_ns)
		last = sibling;
	if (around->span_class != CRIT_CLASS_OMP_WAIT || last->thread == thread ||
	    last->time_ns <= begin_ns)
		return;
	crit_listeners_tell_edge(&edges->engine->listeners,
				 &(struct crit_edge){ .begin_ns = begin_ns,
						      .end_ns = time_ns,
						      .cause_ns = last->time_ns,
						      .waiter = thread,
						      .cause = last->thread,
						      .call = around->call,
						      .kind = CRIT_EDGE_TASK });
}

void crit_task_edges_begin(struct crit_task_edges *edges, uint32_t thread, uint64_t number,
			   uint64_t time_ns)
{
	struct crit_probe probe;
	const uint32_t at = find(edges, thread, number, &probe);

	if (at == CRIT_NONE || edges->rows[at].around != CRIT_NONE)
		return;
	if (!edges->rows[at].is_begun)
		tell_ready(edges, thread, &edges->rows[at], time_ns);
	edges->rows[at].is_begun = true;
	edges->rows[at].around = edges->current[thread];
	edges->current[thread] = at;
}

static void end_task(struct crit_task_edges *edges, uint32_t thread, uint64_t number,
		     uint64_t time_ns)
{
	const struct end end = { time_ns, thread };
	struct crit_probe probe;
	const uint32_t at = find(edges, thread, number, &probe);
	struct task_end *task = at == CRIT_NONE ? NULL : &edges->rows[at];

	if (!task || edges->current[thread] != at)
		return;
	edges->current[thread] = task->around;
	task->around = CRIT_NONE;
	if (task->is_paused) {
		task->is_paused = false;
		return;
	}
	edges->rows[task->maker].last_child = end;
	for (uint32_t above = task->maker; above != CRIT_NONE; above = edges->rows[above].maker)
		edges->rows[above].last_descendant = end;
	crit_index_remove(&edges->places, &probe);
	task->is_over = true;
	forget(edges, at);
}

void crit_task_edges_leave(struct crit_task_edges *edges, uint32_t thread,
			   const struct crit_span_frame *frame, uint64_t time_ns)
{
	const struct task_end *task = &edges->rows[edges->current[thread]];
	const struct end *last = frame->call == CRIT_CONSTRUCT_TASKWAIT ? &task->last_child
									: &task->last_descendant;

	if (frame->call == CRIT_CONSTRUCT_TASK) {
		end_task(edges, thread, frame->arg, time_ns);
		edges->ended_ns[thread] = time_ns;
	}
	if ((frame->call != CRIT_CONSTRUCT_TASKWAIT && frame->call != CRIT_CONSTRUCT_TASKGROUP) ||
	    last->thread == CRIT_NONE || last->thread == thread)
		return;
	crit_listeners_tell_edge(&edges->engine->listeners,
				 &(struct crit_edge){ .begin_ns = frame->enter_ns,
						      .end_ns = time_ns,
						      .cause_ns = last->time_ns,
						      .waiter = thread,
						      .cause = last->thread,
						      .call = frame->call,
						      .kind = CRIT_EDGE_TASK });
}
