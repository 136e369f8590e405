/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runnable threads waiting for a CPU, and the tasks that preempt them.
 *
 * A thread joins a CPU's queue when it is preempted there or woken to there, and leaves it when it
 * runs, wherever.  Each stay of a task on that CPU is charged, as it ends, to every thread in the
 * queue, for as long as both were there.  Threads that wait in MPI or OpenMP lose nothing and never
 * join.
 */
#ifndef CRIT_ENGINE_QUEUES_H
#define CRIT_ENGINE_QUEUES_H

#include "analysis/account/engine.h"

#define CRIT_QUEUE_MOST 32u /* threads whose preemptors are told apart; bounds the cost of a stay */

/* The queue of a CPU, made when new; NULL: engine->error is set. */
struct crit_cpu_queue *crit_queues_make(struct crit_engine *engine, uint32_t node, uint16_t cpu);

static inline struct crit_cpu_queue *crit_queues_at(struct crit_engine *engine, uint32_t node,
						    uint16_t cpu)
{
	struct crit_node_queues *queues = &engine->queues[node];

	return cpu < queues->capacity ? &queues->cpus[cpu] : crit_queues_make(engine, node, cpu);
}

struct crit_stay { /* of the CPU's occupant, which ends */
	uint64_t time_ns;
	struct crit_occupant left; /* who it was, by the record of its end */
	bool has_gap; /* others came and left between the record before and this one */
};

/*
 * Charges a stay on a CPU to the threads in its queue; the caller sets the next occupant.
 * Errors: engine->error.  Cost: O(threads in the queue).
 */
void crit_queues_charge(struct crit_engine *engine, const struct crit_cpu_queue *queue,
			const struct crit_stay *stay);

struct crit_queue_join {
	uint64_t time_ns;
	uint16_t cpu;
	bool is_watched; /* every stay there is told of until the thread runs */
	bool is_preempted; /* and not woken */
};

/* A thread became runnable.  Errors: engine->error. */
void crit_queues_join(struct crit_engine *engine, uint32_t thread,
		      const struct crit_queue_join *join);

/* It runs, or is not active any more.  Errors: engine->error. */
void crit_queues_leave(struct crit_engine *engine, uint32_t thread, uint64_t time_ns);

#endif
