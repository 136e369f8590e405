// SPDX-License-Identifier: BSD-3-Clause
// Event simulation of threads that share the CPUs of their nodes.
#include "analysis/whatif/cpu_sharing.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "core/base/array.h"

#define ROUNDING_NS 0.01 /* of work that is done */

struct timed { /* in a heap, earliest first */
	double time; /* ns since the begin; of who works: its node's work per thread until then */
	uint32_t who; /* node, thread or gate */
	uint32_t version; /* of a node's plan: older ones are void */
	enum {
		AT_NODE,
		AT_THREAD,
		AT_GATE
	} at;
};

struct heap {
	struct timed *rows;
	size_t count, capacity;
};

struct shared_node { /* whose CPUs are shared */
	struct heap workers;
	double work_ns; /* that each worker had until since_ns */
	double since_ns;
	double planned_ns; /* when it is looked at next, at or before the next one is done */
	uint64_t load; /* of who waits, of CRIT_LOAD_ONE */
	uint32_t version;
};

struct player { /* a thread */
	size_t at; /* its next step */
	uint32_t gate; /* of its wait; CRIT_NONE: none */
	bool is_open; /* its wait's acts are done: its transfer goes on */
};

struct playing {
	const struct crit_run_steps *steps;
	const struct crit_cpu_sharing_options *options;
	struct player *threads;
	struct shared_node *nodes;
	uint32_t *acts; /* that are left of each gate */
	uint32_t *waiters; /* thread at each gate; CRIT_NONE: none */
	struct heap events;
	uint32_t *ready; /* threads whose steps go on now */
	size_t ready_count, ready_capacity;
	double now_ns, end_ns;
};

static int push(struct heap *heap, struct timed row)
{
	size_t at = heap->count;
	int rc = crit_array_grow(&heap->rows, &heap->capacity, at + 1, sizeof(*heap->rows));

	if (rc)
		return rc;
	for (; at && row.time < heap->rows[(at - 1) / 2].time; at = (at - 1) / 2)
		heap->rows[at] = heap->rows[(at - 1) / 2];
	heap->rows[at] = row;
	heap->count++;
	return 0;
}

static struct timed pop(struct heap *heap)
{
	const struct timed first = heap->rows[0], last = heap->rows[--heap->count];
	size_t at = 0;

	for (size_t child = 1; child < heap->count; child = 2 * at + 1) {
		if (child + 1 < heap->count && heap->rows[child + 1].time < heap->rows[child].time)
			child++;
		if (heap->rows[child].time >= last.time)
			break;
		heap->rows[at] = heap->rows[child];
		at = child;
	}
	heap->rows[at] = last;
	return first;
}

/* The part of a CPU that each thread has that works there. */
static double rate_of(const struct playing *playing, uint32_t number)
{
	const struct shared_node *node = &playing->nodes[number];
	const double wanted = (double)node->workers.count + (double)node->load / CRIT_LOAD_ONE;
	const double cpus = playing->options->node_cpus[number];

	return wanted > cpus ? cpus / wanted : 1;
}

/* Before who works or waits there changes: all have worked until now. */
static void work(struct playing *playing, uint32_t number)
{
	struct shared_node *node = &playing->nodes[number];

	node->work_ns += (playing->now_ns - node->since_ns) * rate_of(playing, number);
	node->since_ns = playing->now_ns;
}

/* After that: when the next one there is done.  A look too early plans another one. */
static int plan(struct playing *playing, uint32_t number)
{
	struct shared_node *node = &playing->nodes[number];
	double done_ns;

	if (!node->workers.count)
		return 0;
	done_ns = playing->now_ns +
		  (node->workers.rows[0].time - node->work_ns) / rate_of(playing, number);
	if (done_ns >= node->planned_ns)
		return 0;
	node->planned_ns = done_ns;
	node->version++;
	return push(&playing->events, (struct timed){ done_ns, number, node->version, AT_NODE });
}

static int make_ready(struct playing *playing, uint32_t thread)
{
	int rc = crit_array_grow(&playing->ready, &playing->ready_capacity,
				 playing->ready_count + 1, sizeof(*playing->ready));

	if (!rc)
		playing->ready[playing->ready_count++] = thread;
	return rc;
}

static uint64_t load_of(const struct playing *playing, uint32_t gate)
{
	const uint32_t bucket = playing->steps->gates[gate].bucket;

	return playing->options->do_waiters_block || bucket == CRIT_FILM_NO_BUCKET
		       ? 0
		       : playing->steps->loads[bucket];
}

/* A waiter more, or one less, on its node. */
static int change_load(struct playing *playing, uint32_t thread, uint64_t load, bool is_more)
{
	const uint32_t number = playing->steps->threads[thread].node;

	if (!load)
		return 0;
	work(playing, number);
	playing->nodes[number].load += is_more ? load : -load;
	return plan(playing, number);
}

static int end_wait(struct playing *playing, uint32_t thread)
{
	struct player *player = &playing->threads[thread];
	const uint32_t gate = player->gate;

	player->gate = CRIT_NONE;
	player->is_open = false;
	player->at++;
	playing->waiters[gate] = CRIT_NONE;
	return change_load(playing, thread, load_of(playing, gate), false);
}

/* All that a wait needs is done: its transfer begins.  Yields 1 where it has none. */
static int open_wait(struct playing *playing, uint32_t thread)
{
	struct player *player = &playing->threads[thread];
	const struct crit_step *step = &playing->steps->threads[thread].rows[player->at];
	const bool is_kept = !playing->options->scenario.is_without_transfer ||
			     !playing->steps->gates[step->of].acts;
	int rc;

	player->is_open = true;
	if (step->ns && is_kept)
		return push(&playing->events, (struct timed){ playing->now_ns + (double)step->ns,
							      thread, 0, AT_THREAD });
	rc = end_wait(playing, thread);
	return rc ? rc : 1;
}

/* One act of a gate is done, and of all that follow it where it was the last. */
static int act(struct playing *playing, uint32_t gate)
{
	const struct crit_run_steps *steps = playing->steps;
	const uint32_t thread = playing->waiters[gate];
	int rc = 0;

	if (!playing->acts[gate] || --playing->acts[gate])
		return 0;
	for (uint32_t i = steps->gates[gate].first_follower; i != CRIT_NONE && !rc;
	     i = steps->followers[i].next)
		rc = act(playing, steps->followers[i].gate);
	if (rc || thread == CRIT_NONE)
		return rc;
	rc = open_wait(playing, thread);
	return rc > 0 ? make_ready(playing, thread) : rc;
}

static uint64_t scaled_ns(const struct playing *playing, const struct crit_step *step)
{
	const struct crit_factor *factor = playing->options->scenario.factors;

	return factor ? crit_factor_scale(&factor[step->of], step->ns) : step->ns;
}

/* It works from now on.  Yields 1 where that takes no time. */
static int begin_work(struct playing *playing, uint32_t thread, const struct crit_step *step)
{
	const uint32_t number = playing->steps->threads[thread].node;
	const uint64_t ns = scaled_ns(playing, step);
	struct shared_node *node = &playing->nodes[number];
	int rc;

	if (!ns)
		return 1;
	work(playing, number);
	rc = push(&node->workers,
		  (struct timed){ node->work_ns + (double)ns, thread, 0, AT_THREAD });
	return rc ? rc : plan(playing, number);
}

static int begin_wait(struct playing *playing, uint32_t thread, uint32_t gate)
{
	int rc = change_load(playing, thread, load_of(playing, gate), true);

	playing->threads[thread].gate = gate;
	playing->waiters[gate] = thread;
	if (rc || playing->acts[gate])
		return rc;
	return open_wait(playing, thread);
}

/* Yields 1 where the thread goes on at once. */
static int take_step(struct playing *playing, uint32_t thread)
{
	struct player *player = &playing->threads[thread];
	const struct crit_step *step = &playing->steps->threads[thread].rows[player->at];
	int rc;

	switch ((enum crit_step_kind)step->kind) {
	case CRIT_STEP_WAIT:
		return begin_wait(playing, thread, step->of);
	case CRIT_STEP_WORK:
		rc = begin_work(playing, thread, step);
		break;
	case CRIT_STEP_PAUSE:
		rc = push(&playing->events, (struct timed){ playing->now_ns + (double)step->ns,
							    thread, 0, AT_THREAD });
		break;
	case CRIT_STEP_ACT:
		rc = act(playing, step->of);
		rc = rc ? rc : 1;
		break;
	case CRIT_STEP_LATER_ACT:
		rc = push(&playing->events, (struct timed){ playing->now_ns + (double)step->ns,
							    step->of, 0, AT_GATE });
		rc = rc ? rc : 1;
		break;
	default:
		playing->end_ns = playing->now_ns;
		rc = 1;
	}
	player->at++;
	return rc;
}

static int take_steps(struct playing *playing)
{
	int rc = 0;

	while (playing->ready_count && rc >= 0) {
		const uint32_t thread = playing->ready[--playing->ready_count];
		const struct crit_thread_steps *steps = &playing->steps->threads[thread];

		for (rc = 1; rc > 0 && playing->threads[thread].at < steps->count;)
			rc = take_step(playing, thread);
	}
	return rc < 0 ? rc : 0;
}

/* Somebody's work on a node may be done. */
static int take_plan(struct playing *playing, uint32_t number)
{
	struct shared_node *node = &playing->nodes[number];
	int rc = 0;

	node->planned_ns = INFINITY;
	work(playing, number);
	if (node->workers.count && node->workers.rows[0].time < node->work_ns + ROUNDING_NS) {
		node->work_ns = node->workers.rows[0].time;
		rc = make_ready(playing, pop(&node->workers).who);
	}
	return rc ? rc : plan(playing, number);
}

static int take_event(struct playing *playing, const struct timed *event)
{
	int rc;

	if (event->at == AT_NODE && event->version != playing->nodes[event->who].version)
		return 0;
	playing->now_ns = event->time;
	if (event->at == AT_NODE)
		return take_plan(playing, event->who);
	if (event->at == AT_GATE)
		return act(playing, event->who);
	rc = playing->threads[event->who].is_open ? end_wait(playing, event->who) : 0;
	return rc ? rc : make_ready(playing, event->who);
}

/* All events are over and a thread still waits: for one that waits for it.  Its wait ends. */
static int break_circle(struct playing *playing, uint64_t *circles)
{
	int rc;

	for (uint32_t i = 0; i < playing->steps->thread_count; i++) {
		struct player *player = &playing->threads[i];

		if (player->gate == CRIT_NONE)
			continue;
		++*circles;
		playing->acts[player->gate] = 0;
		rc = end_wait(playing, i);
		return rc ? rc : make_ready(playing, i);
	}
	return 0;
}

static int play(struct playing *playing, uint64_t *circles)
{
	int rc = 0;

	for (uint32_t i = 0; i < playing->steps->thread_count && !rc; i++)
		rc = make_ready(playing, i);
	while (!rc) {
		rc = take_steps(playing);
		if (rc)
			break;
		if (playing->events.count) {
			const struct timed event = pop(&playing->events);

			rc = take_event(playing, &event);
			continue;
		}
		rc = break_circle(playing, circles);
		if (!playing->ready_count)
			break;
	}
	return rc;
}

static int begin(struct playing *playing)
{
	const struct crit_run_steps *steps = playing->steps;

	playing->threads = calloc(steps->thread_count + 1, sizeof(*playing->threads));
	playing->nodes = calloc(steps->node_count + 1, sizeof(*playing->nodes));
	playing->acts = calloc(steps->gate_count + 1, sizeof(*playing->acts));
	playing->waiters = calloc(steps->gate_count + 1, sizeof(*playing->waiters));
	if (!playing->threads || !playing->nodes || !playing->acts || !playing->waiters)
		return -ENOMEM;
	for (size_t i = 0; i < steps->thread_count; i++)
		playing->threads[i].gate = CRIT_NONE;
	for (size_t i = 0; i < steps->node_count; i++)
		playing->nodes[i].planned_ns = INFINITY;
	for (size_t i = 0; i < steps->gate_count; i++) {
		playing->acts[i] = steps->gates[i].acts;
		playing->waiters[i] = CRIT_NONE;
	}
	return 0;
}

int crit_cpu_sharing_play(const struct crit_run_steps *steps,
			  const struct crit_cpu_sharing_options *options, uint64_t *ret_end_ns,
			  uint64_t *ret_circles)
{
	struct playing playing = { .steps = steps, .options = options };
	uint64_t circles = 0;
	int rc = begin(&playing);

	if (!rc)
		rc = play(&playing, &circles);
	for (size_t i = 0; playing.nodes && i < steps->node_count; i++)
		free(playing.nodes[i].workers.rows);
	free(playing.nodes);
	free(playing.threads);
	free(playing.acts);
	free(playing.waiters);
	free(playing.events.rows);
	free(playing.ready);
	if (rc)
		return rc;
	*ret_end_ns = (uint64_t)(playing.end_ns + 0.5);
	*ret_circles = circles;
	return 0;
}
