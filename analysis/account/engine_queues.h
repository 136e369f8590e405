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

/* What a record tells of a switch: who left the CPU, and who got it. */
struct crit_stay {
	uint32_t node;
	uint16_t cpu;
	uint64_t time_ns;
	struct crit_occupant left, came;
	bool has_gap; /* others came and left between the record before and this one */
};

/* A stay on a CPU ends, another begins.  Errors: engine->error.  Cost: O(threads in the queue). */
void crit_queues_switch(struct crit_engine *engine, const struct crit_stay *stay);

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
