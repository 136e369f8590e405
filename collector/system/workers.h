/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads for what may wait without end, so that the main loop never does. */
#ifndef CRIT_COLLECTOR_WORKERS_H
#define CRIT_COLLECTOR_WORKERS_H

#include <linux/types.h>
#include <stdbool.h>

#define CRIT_WORKERS_MAX 64u /* threads; tasks beyond wait for one */

struct crit_task {
	struct crit_task *next;
	void (*work)(
		struct crit_task *task); /* in a worker; it may free the task unless is_awaited */
	bool is_awaited; /* comes out of crit_workers_take_done */
};

struct crit_workers;

/* Starts the first thread.  Errors: -EAGAIN where no thread can be had, and others. */
int crit_workers_create(struct crit_workers **ret_workers);

/*
 * Stops the threads; those at work have a second.  drop frees tasks that are done and were not
 * taken; NULL where none is awaited.  Returns false when one is stuck: it still looks at workers,
 * which stay.  Accepts NULL.
 */
bool crit_workers_destroy(struct crit_workers *workers, void (*drop)(struct crit_task *task));

/* An eventfd, readable while something is done. */
int crit_workers_done_fd(const struct crit_workers *workers);

/* Ownership: takes task until it is done.  Threads: any. */
void crit_workers_put(struct crit_workers *workers, struct crit_task *task);

/* Takes a task back that no thread has begun.  Returns false when it is begun or done. */
bool crit_workers_cancel(struct crit_workers *workers, const struct crit_task *task);

/* All threads there may be are at work, and tasks wait. */
bool crit_workers_are_busy(struct crit_workers *workers);

/* Returns a task that is done, or NULL.  Clears the eventfd. */
struct crit_task *crit_workers_take_done(struct crit_workers *workers);

/* Closes a descriptor.  Threads: any.  Without memory for a task it is closed here. */
void crit_workers_close(struct crit_workers *workers, int fd);

#endif
