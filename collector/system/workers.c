// SPDX-License-Identifier: BSD-3-Clause
// A queue of tasks and the threads that do them; one more is started when all are busy.
#include "collector/system/workers.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "collector/system/scheduling.h"

#define STACK_BYTES (128 << 10)

struct crit_workers {
	pthread_attr_t attributes;
	pthread_mutex_t mutex; /* of all that follows */
	pthread_cond_t is_filled;
	pthread_cond_t is_empty;
	struct crit_task *first;
	struct crit_task **end;
	struct crit_task *done; /* the latest first */
	int done_fd; /* eventfd: something is done */
	uint32_t queued_count;
	uint32_t idle_count;
	uint32_t thread_count;
	bool is_stopping;
};

struct close_task {
	struct crit_task task;
	int fd;
};

/* Under the mutex, which is open during the work. */
static void do_first(struct crit_workers *workers)
{
	struct crit_task *task = workers->first;
	const bool is_awaited = task->is_awaited;

	workers->first = task->next;
	if (!workers->first)
		workers->end = &workers->first;
	workers->queued_count--;
	(void)pthread_mutex_unlock(&workers->mutex);
	crit_scheduling_follow();
	task->work(task);
	(void)pthread_mutex_lock(&workers->mutex);
	if (!is_awaited)
		return;
	task->next = workers->done;
	workers->done = task;
	(void)eventfd_write(workers->done_fd, 1);
}

static void *worker_main(void *argument)
{
	struct crit_workers *workers = argument;

	(void)pthread_mutex_lock(&workers->mutex);
	while (workers->first || !workers->is_stopping) {
		if (workers->first) {
			do_first(workers);
			continue;
		}
		workers->idle_count++;
		(void)pthread_cond_wait(&workers->is_filled, &workers->mutex);
		workers->idle_count--;
	}
	if (--workers->thread_count == 0)
		(void)pthread_cond_signal(&workers->is_empty);
	(void)pthread_mutex_unlock(&workers->mutex);
	return NULL;
}

/* Under the mutex. */
static int add_thread(struct crit_workers *workers)
{
	pthread_t thread;
	int rc = pthread_create(&thread, &workers->attributes, worker_main, workers);

	workers->thread_count += rc == 0;
	return -rc;
}

static int start(struct crit_workers *workers)
{
	int rc;

	workers->end = &workers->first;
	(void)pthread_mutex_init(&workers->mutex, NULL);
	(void)pthread_cond_init(&workers->is_filled, NULL);
	(void)pthread_cond_init(&workers->is_empty, NULL);
	rc = pthread_attr_init(&workers->attributes);
	if (!rc)
		rc = pthread_attr_setdetachstate(&workers->attributes, PTHREAD_CREATE_DETACHED);
	if (!rc)
		rc = pthread_attr_setstacksize(&workers->attributes, STACK_BYTES);
	if (rc)
		return -rc;
	(void)pthread_mutex_lock(&workers->mutex);
	rc = add_thread(workers);
	(void)pthread_mutex_unlock(&workers->mutex);
	return rc;
}

int crit_workers_create(struct crit_workers **ret_workers)
{
	struct crit_workers *workers = calloc(1, sizeof(*workers));
	int rc;

	if (!workers)
		return -ENOMEM;
	workers->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	rc = workers->done_fd < 0 ? -errno : start(workers);
	if (!rc) {
		*ret_workers = workers;
		return 0;
	}
	if (workers->done_fd >= 0)
		close(workers->done_fd);
	free(workers);
	return rc;
}

bool crit_workers_destroy(struct crit_workers *workers, void (*drop)(struct crit_task *task))
{
	struct timespec until;
	bool is_empty;
	int rc = 0;

	if (!workers)
		return true;
	(void)clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 1;
	(void)pthread_mutex_lock(&workers->mutex);
	workers->is_stopping = true;
	(void)pthread_cond_broadcast(&workers->is_filled);
	while (workers->thread_count > 0 && rc == 0)
		rc = pthread_cond_timedwait(&workers->is_empty, &workers->mutex, &until);
	is_empty = workers->thread_count == 0;
	(void)pthread_mutex_unlock(&workers->mutex);
	if (!is_empty)
		return false;
	while (workers->done) {
		struct crit_task *task = workers->done;

		workers->done = task->next;
		drop(task);
	}
	close(workers->done_fd);
	free(workers);
	return true;
}

int crit_workers_done_fd(const struct crit_workers *workers)
{
	return workers->done_fd;
}

void crit_workers_put(struct crit_workers *workers, struct crit_task *task)
{
	task->next = NULL;
	(void)pthread_mutex_lock(&workers->mutex);
	*workers->end = task;
	workers->end = &task->next;
	workers->queued_count++;
	/* where no thread can be had, the task waits for one of those there are */
	if (workers->queued_count > workers->idle_count && workers->thread_count < CRIT_WORKERS_MAX)
		(void)add_thread(workers);
	(void)pthread_cond_signal(&workers->is_filled);
	(void)pthread_mutex_unlock(&workers->mutex);
}

bool crit_workers_cancel(struct crit_workers *workers, const struct crit_task *task)
{
	struct crit_task **place;
	bool is_queued;

	(void)pthread_mutex_lock(&workers->mutex);
	place = &workers->first;
	while (*place && *place != task)
		place = &(*place)->next;
	is_queued = *place != NULL;
	if (is_queued) {
		*place = task->next;
		if (workers->end == &task->next)
			workers->end = place;
		workers->queued_count--;
	}
	(void)pthread_mutex_unlock(&workers->mutex);
	return is_queued;
}

bool crit_workers_are_busy(struct crit_workers *workers)
{
	bool are_busy;

	(void)pthread_mutex_lock(&workers->mutex);
	are_busy = workers->queued_count > 0 && workers->thread_count == CRIT_WORKERS_MAX;
	(void)pthread_mutex_unlock(&workers->mutex);
	return are_busy;
}

struct crit_task *crit_workers_take_done(struct crit_workers *workers)
{
	struct crit_task *task;
	eventfd_t count;

	(void)pthread_mutex_lock(&workers->mutex);
	task = workers->done;
	if (task)
		workers->done = task->next;
	else
		(void)eventfd_read(workers->done_fd, &count);
	(void)pthread_mutex_unlock(&workers->mutex);
	return task;
}

static void close_one(struct crit_task *task)
{
	struct close_task *close_task = (void *)task;

	close(close_task->fd);
	free(close_task);
}

void crit_workers_close(struct crit_workers *workers, int fd)
{
	struct close_task *task = malloc(sizeof(*task));

	if (!task) {
		close(fd);
		return;
	}
	*task = (struct close_task){ .task.work = close_one, .fd = fd };
	crit_workers_put(workers, &task->task);
}
