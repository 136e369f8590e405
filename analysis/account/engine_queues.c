// SPDX-License-Identifier: BSD-3-Clause
// Runnable threads in one queue per CPU, and the tasks that run there instead.
#include "analysis/account/engine_queues.h"

#include <string.h>

static const struct crit_occupant not_told = { .is_told = false };

static void charge(struct crit_engine *engine, uint32_t thread, const struct crit_occupant *by,
		   uint64_t until_ns)
{
	struct crit_queued *queued = &engine->accounts[thread].queued;
	uint64_t since_ns = queued->since_ns;
	uint32_t number;
	int rc;

	if (until_ns > engine->model->window_end_ns)
		until_ns = engine->model->window_end_ns;
	if (until_ns <= since_ns)
		return;
	queued->since_ns = until_ns;
	rc = crit_preemptors_number(&engine->preemptors, thread, by, &number);
	if (rc)
		engine->error = rc;
	else
		crit_preemptors_charge(&engine->preemptors, number, until_ns - since_ns);
}

static bool is_same(const struct crit_occupant *a, const struct crit_occupant *b)
{
	return a->kind == b->kind && a->tid == b->tid && a->thread == b->thread;
}

static struct crit_occupant of_kind(enum crit_preemptor_kind kind)
{
	return (struct crit_occupant){ .kind = kind, .is_told = true, .thread = CRIT_NONE };
}

/*
 * Who had the CPU during a stay that began with one and ended with the other.  Where the CPU was
 * not watched others may have been there before, after or between, unless one is of the run.
 */
static struct crit_occupant resolve(const struct crit_occupant *came,
				    const struct crit_occupant *left, bool is_watched)
{
	const struct crit_occupant *told = came->is_told ? came : left;

	if (!told->is_told)
		return of_kind(is_watched ? CRIT_PREEMPTOR_IDLE : CRIT_PREEMPTOR_HIDDEN);
	if (came->is_told && left->is_told)
		return is_same(came, left) ? *left : of_kind(CRIT_PREEMPTOR_UNKNOWN);
	return is_watched || told->kind == CRIT_PREEMPTOR_MEMBER ? *told
								 : of_kind(CRIT_PREEMPTOR_UNKNOWN);
}

struct crit_cpu_queue *crit_queues_make(struct crit_engine *engine, uint32_t node, uint16_t cpu)
{
	struct crit_node_queues *queues = &engine->queues[node];
	size_t before = queues->capacity;
	int rc = crit_array_grow(&queues->cpus, &queues->capacity, cpu + 1u, sizeof(*queues->cpus));

	if (rc) {
		engine->error = rc;
		return NULL;
	}
	for (; before < queues->capacity; before++)
		queues->cpus[before] = (struct crit_cpu_queue){ .first = CRIT_NONE };
	return &queues->cpus[cpu];
}

void crit_queues_charge(struct crit_engine *engine, const struct crit_cpu_queue *queue,
			const struct crit_stay *stay)
{
	for (uint32_t thread = queue->first; thread != CRIT_NONE;
	     thread = engine->accounts[thread].queued.next) {
		bool is_watched = engine->accounts[thread].queued.is_watched;
		struct crit_occupant idle = of_kind(CRIT_PREEMPTOR_IDLE);
		struct crit_occupant by;

		/* a watched CPU names every task but the idle one */
		by = resolve(&queue->occupant,
			     is_watched && !stay->left.is_told ? &idle : &stay->left, is_watched);
		if (stay->has_gap ||
		    stay->left.thread == thread) /* it had the CPU itself, unseen */
			by = of_kind(CRIT_PREEMPTOR_UNKNOWN);
		charge(engine, thread, &by, stay->time_ns);
	}
}

static void count(struct crit_engine *engine, uint32_t thread, const struct crit_occupant *came)
{
	struct crit_occupant hidden = of_kind(CRIT_PREEMPTOR_HIDDEN);
	uint32_t number;
	int rc = crit_preemptors_number(&engine->preemptors, thread, came->is_told ? came : &hidden,
					&number);

	if (rc)
		engine->error = rc;
	else
		crit_preemptors_count(&engine->preemptors, number);
}

static void link_last(struct crit_engine *engine, struct crit_cpu_queue *queue, uint32_t thread)
{
	struct crit_queued *queued = &engine->accounts[thread].queued;

	queued->is_linked = queue->count < CRIT_QUEUE_MOST;
	if (!queued->is_linked)
		return;
	queued->next = queue->first;
	queued->before = CRIT_NONE;
	if (queue->first != CRIT_NONE)
		engine->accounts[queue->first].queued.before = thread;
	queue->first = thread;
	queue->count++;
}

static void unlink_from(struct crit_engine *engine, struct crit_cpu_queue *queue,
			const struct crit_queued *queued)
{
	if (queued->before == CRIT_NONE)
		queue->first = queued->next;
	else
		engine->accounts[queued->before].queued.next = queued->next;
	if (queued->next != CRIT_NONE)
		engine->accounts[queued->next].queued.before = queued->before;
	queue->count--;
}

void crit_queues_join(struct crit_engine *engine, uint32_t thread,
		      const struct crit_queue_join *join)
{
	struct crit_thread_account *account = &engine->accounts[thread];
	struct crit_cpu_queue *queue;

	if (account->queued.is_waiting)
		crit_queues_leave(engine, thread, join->time_ns);
	if (account->share != CRIT_SHARE_ACTIVE)
		return;
	queue = crit_queues_at(engine, engine->model->threads[thread].node, join->cpu);
	if (!queue)
		return;
	account->queued = (struct crit_queued){ .since_ns = join->time_ns,
						.cpu = join->cpu,
						.is_waiting = true,
						.is_watched = join->is_watched };
	link_last(engine, queue, thread);
	if (join->is_preempted)
		count(engine, thread, &queue->occupant);
}

void crit_queues_leave(struct crit_engine *engine, uint32_t thread, uint64_t time_ns)
{
	struct crit_queued *queued = &engine->accounts[thread].queued;
	struct crit_cpu_queue *queue =
		crit_queues_at(engine, engine->model->threads[thread].node, queued->cpu);
	struct crit_occupant by = of_kind(CRIT_PREEMPTOR_OTHERS);

	if (!queue)
		return;
	if (queued->is_linked) {
		by = resolve(&queue->occupant, &not_told, queued->is_watched);
		unlink_from(engine, queue, queued);
	}
	charge(engine, thread, &by, time_ns);
	queued->is_waiting = false;
}
