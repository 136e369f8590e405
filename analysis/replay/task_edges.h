/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matches waits for tasks of OpenMP with who ended the last task they were for, or made one ready.
 *
 * A taskwait is for the tasks that the present task made, the end of a taskgroup for these and all
 * that they made: which of them are in the group is not recorded, so those made before it count.
 * A wait that a task interrupts was for who made the task, or ended the last one of the same maker,
 * if that was while the thread waited.
 * Nothing is known of tasks without numbers: parts of loops, with libgomp.
 *
 * Memory: tasks that are not over, or made some that are not.
 */
#ifndef CRIT_TASK_EDGES_H
#define CRIT_TASK_EDGES_H

#include "analysis/account/engine.h"

struct crit_task_edges;

/* The engine is borrowed until destroy.  Errors: -ENOMEM. */
int crit_task_edges_create(struct crit_engine *engine, struct crit_task_edges **ret_edges);
void crit_task_edges_destroy(struct crit_task_edges *edges);

/* A task is made or put aside, by the task that the thread is in.  Errors: -ENOMEM. */
int crit_task_edges_note(struct crit_task_edges *edges, const struct crit_event *event);

/* A span of the task begins in a thread; any span of a thread ends. */
void crit_task_edges_begin(struct crit_task_edges *edges, uint32_t thread, uint64_t number,
			   uint64_t time_ns);
void crit_task_edges_leave(struct crit_task_edges *edges, uint32_t thread,
			   const struct crit_span_frame *frame, uint64_t time_ns);

#endif
