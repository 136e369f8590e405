// SPDX-License-Identifier: BSD-3-Clause
// Threads that hand rounds of work on: the first works FIRST ms, each other one the rest in turn,
// and nobody works beside another.
// usage: stages ROUNDS THREADS FIRST-MS OTHER-MS
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/apps/work.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t *turns;
static long rounds, thread_count, first_ms, other_ms;
static long turn; /* of whom it is */

static void *stage(void *argument)
{
	const long number = (long)(intptr_t)argument;

	for (long i = 0; i < rounds; i++) {
		pthread_mutex_lock(&lock);
		while (turn != number)
			pthread_cond_wait(&turns[number], &lock);
		pthread_mutex_unlock(&lock);
		work_for_ns((number ? other_ms : first_ms) * 1000000);
		pthread_mutex_lock(&lock);
		turn = (number + 1) % thread_count;
		pthread_mutex_unlock(&lock);
		pthread_cond_signal(&turns[turn]);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t *threads;

	if (argc != 5)
		return 2;
	rounds = strtol(argv[1], NULL, 10);
	thread_count = strtol(argv[2], NULL, 10);
	first_ms = strtol(argv[3], NULL, 10);
	other_ms = strtol(argv[4], NULL, 10);
	threads = calloc((size_t)thread_count, sizeof(*threads));
	turns = calloc((size_t)thread_count, sizeof(*turns));
	if (!threads || !turns)
		return 1;
	for (long i = 0; i < thread_count; i++)
		pthread_cond_init(&turns[i], NULL);
	for (long i = 0; i < thread_count; i++)
		if (pthread_create(&threads[i], NULL, stage, (void *)(intptr_t)i))
			return 1;
	for (long i = 0; i < thread_count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
