// SPDX-License-Identifier: BSD-3-Clause
// Entries go to the thread in blocks, of which a few may wait for it.
#include "analysis/waits/turning_thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_ENTRIES 4096u
#define BLOCKS 4u

struct turning_block {
	size_t count;
	struct crit_film_entry entries[BLOCK_ENTRIES];
};

struct crit_turning_thread {
	struct crit_film_turning *turning;
	bool has_thread;
	pthread_t thread;
	pthread_mutex_t lock; /* of what follows but the blocks */
	pthread_cond_t has_changed;
	uint64_t given; /* blocks, since the begin */
	uint64_t done; /* of these; the others wait, or are worked at */
	bool is_over;
	struct turning_block blocks[BLOCKS]; /* round; the next to be given is being filled */
};

static void *turn_blocks(void *user)
{
	struct crit_turning_thread *thread = user;

	(void)pthread_mutex_lock(&thread->lock);
	for (;;) {
		const struct turning_block *block = &thread->blocks[thread->done % BLOCKS];

		while (thread->done == thread->given && !thread->is_over)
			(void)pthread_cond_wait(&thread->has_changed, &thread->lock);
		if (thread->done == thread->given)
			break;
		(void)pthread_mutex_unlock(&thread->lock);
		crit_film_turning_take(thread->turning, block->entries, block->count);
		(void)pthread_mutex_lock(&thread->lock);
		thread->done++;
		(void)pthread_cond_signal(&thread->has_changed);
	}
	(void)pthread_mutex_unlock(&thread->lock);
	return NULL;
}

/* Signals of the process are for who knows them. */
static bool start(struct crit_turning_thread *thread)
{
	sigset_t all, before;
	int rc;

	(void)sigfillset(&all);
	(void)pthread_mutex_init(&thread->lock, NULL);
	(void)pthread_cond_init(&thread->has_changed, NULL);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&thread->thread, NULL, turn_blocks, thread);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc == 0;
}

int crit_turning_thread_create(const struct crit_resolved_film_options *options,
			       struct crit_turning_thread **ret_thread, struct crit_err *err)
{
	struct crit_turning_thread *thread = calloc(1, sizeof(*thread));
	int rc;

	if (!thread)
		return crit_err_set(err, -ENOMEM, "out of memory");
	rc = crit_film_turning_create(options, &thread->turning, err);
	if (rc) {
		free(thread);
		return rc;
	}
	thread->has_thread = start(thread);
	*ret_thread = thread;
	return 0;
}

/* The block that was filled; then there is another one to fill. */
static void give(struct crit_turning_thread *thread)
{
	(void)pthread_mutex_lock(&thread->lock);
	thread->given++;
	(void)pthread_cond_signal(&thread->has_changed);
	while (thread->given - thread->done == BLOCKS)
		(void)pthread_cond_wait(&thread->has_changed, &thread->lock);
	(void)pthread_mutex_unlock(&thread->lock);
	thread->blocks[thread->given % BLOCKS].count = 0;
}

void crit_turning_thread_take(void *user, const struct crit_film_entry *entries, size_t count)
{
	struct crit_turning_thread *thread = user;

	if (!thread->has_thread) {
		crit_film_turning_take(thread->turning, entries, count);
		return;
	}
	while (count) {
		struct turning_block *block = &thread->blocks[thread->given % BLOCKS];
		const size_t room = BLOCK_ENTRIES - block->count;
		const size_t taken = count < room ? count : room;

		memcpy(&block->entries[block->count], entries, taken * sizeof(*entries));
		block->count += taken;
		entries += taken;
		count -= taken;
		if (block->count == BLOCK_ENTRIES)
			give(thread);
	}
}

static void stop(struct crit_turning_thread *thread)
{
	(void)pthread_mutex_lock(&thread->lock);
	thread->given += thread->blocks[thread->given % BLOCKS].count > 0;
	thread->is_over = true;
	(void)pthread_cond_signal(&thread->has_changed);
	(void)pthread_mutex_unlock(&thread->lock);
	(void)pthread_join(thread->thread, NULL);
}

int crit_turning_thread_end(struct crit_turning_thread *thread, struct crit_filmed_run *ret_run,
			    struct crit_err *err)
{
	int rc;

	if (thread->has_thread)
		stop(thread);
	(void)pthread_cond_destroy(&thread->has_changed);
	(void)pthread_mutex_destroy(&thread->lock);
	rc = crit_film_turning_end(thread->turning, ret_run, err);
	free(thread);
	return rc;
}
