/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Explicit tasks of OpenMP as event records: created, switched to, complete.
 *
 * A reader keeps a call stack per task (OTF2: a switch may change the current one), so a thread
 * that leaves a task's span switches back: to the task around, or to its share of the region,
 * which is the implicit task, number 0 of the thread itself.
 */
#ifndef CRIT_OTF2_TASK_RECORDS_H
#define CRIT_OTF2_TASK_RECORDS_H

#include <stdint.h>

#include "analysis/cluster/transport.h"
#include "otf2/openmp/team_records.h"

struct crit_otf2_tasks;

/* Everything is borrowed.  Errors: NULL when out of memory. */
struct crit_otf2_tasks *crit_otf2_tasks_create(struct crit_otf2_files *files,
					       const struct crit_otf2_teams *teams,
					       size_t location_count);
void crit_otf2_tasks_destroy(struct crit_otf2_tasks *tasks);

/* Enters, or leaves, a span of a task.  Errors: -ENOMEM, -EIO. */
int crit_otf2_tasks_enter(struct crit_otf2_tasks *tasks, const struct crit_otf2_moment *at,
			  uint64_t task);
int crit_otf2_tasks_leave(struct crit_otf2_tasks *tasks, const struct crit_otf2_moment *at);

/* A task was created or put aside; note: enum crit_omp_task_note.  Errors: -ENOMEM, -EIO. */
int crit_otf2_tasks_note(struct crit_otf2_tasks *tasks, const struct crit_otf2_moment *at,
			 uint16_t note, uint64_t task);

/* Was every task that was created completed? */
bool crit_otf2_tasks_are_whole(const struct crit_otf2_tasks *tasks);

/* Counts, for process 0.  Errors: -ENOMEM, -EPROTO. */
int crit_otf2_tasks_pack(const struct crit_otf2_tasks *tasks, struct crit_exchange_buffer *buffer);
int crit_otf2_tasks_unpack(struct crit_otf2_tasks *tasks, const struct crit_exchange_buffer *buffer,
			   size_t *at);

#endif
