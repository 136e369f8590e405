// SPDX-License-Identifier: BSD-3-Clause
// A pipeline of threads: the first takes A ms to assemble an item, each other one B ms to solve it.
// Between two of them there is room for four items.
// usage: pipeline ITEMS THREADS A B
#include <pthread.h>
#include <stdlib.h>

#include "tests/apps/work.h"

#define ROOM 4

struct queue { /* behind a stage */
	pthread_mutex_t lock;
	pthread_cond_t has_changed;
	long count;
};

static struct queue *queues;
static long item_count, stage_count;
static double first_ms, other_ms;

static __attribute__((noinline)) void assemble(double ms)
{
	WORK_HERE(ms);
}

/* Not the same code, or the compiler makes it one function. */
static __attribute__((noinline)) void solve(double ms)
{
	WORK_HERE(ms + 0.001);
}

/* Waits while there are so many, then there are more by change. */
static void change(struct queue *queue, long stop, long change)
{
	pthread_mutex_lock(&queue->lock);
	while (queue->count == stop)
		pthread_cond_wait(&queue->has_changed, &queue->lock);
	queue->count += change;
	pthread_mutex_unlock(&queue->lock);
	pthread_cond_signal(&queue->has_changed);
}

static void *stage(void *argument)
{
	const long number = (long)(intptr_t)argument;

	work_pin((int)number);
	for (long i = 0; i < item_count; i++) {
		if (number)
			change(&queues[number - 1], 0, -1);
		if (number)
			solve(other_ms);
		else
			assemble(first_ms);
		if (number < stage_count - 1)
			change(&queues[number], ROOM, 1);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t *threads;

	if (argc != 5)
		return 2;
	item_count = strtol(argv[1], NULL, 10);
	stage_count = strtol(argv[2], NULL, 10);
	first_ms = strtod(argv[3], NULL);
	other_ms = strtod(argv[4], NULL);
	threads = calloc((size_t)stage_count, sizeof(*threads));
	queues = calloc((size_t)stage_count, sizeof(*queues));
	if (!threads || !queues)
		return 1;
	for (long i = 0; i < stage_count; i++) {
		pthread_mutex_init(&queues[i].lock, NULL);
		pthread_cond_init(&queues[i].has_changed, NULL);
	}
	for (long i = 0; i < stage_count; i++)
		if (pthread_create(&threads[i], NULL, stage, (void *)(intptr_t)i))
			return 1;
	for (long i = 0; i < stage_count; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	free(queues);
	return 0;
}
