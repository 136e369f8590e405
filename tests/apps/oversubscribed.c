// SPDX-License-Identifier: BSD-3-Clause
// More working threads than CPUs, each with its own mix of work, sleep, yield and a common barrier.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/apps/work.h"

#define THREADS_MAX 64

static pthread_barrier_t round_end;
static long rounds;

static void *worker(void *arg)
{
	long number = (long)arg;

	for (long i = 0; i < rounds; i++) {
		work_for_ns((1 + number % 4) * 2000000);
		if (number % 3 == 1)
			usleep(1000);
		else if (number % 3 == 2)
			sched_yield();
		if (i % 4 == 3)
			pthread_barrier_wait(&round_end);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long threads = argc > 1 ? strtol(argv[1], NULL, 10) : 8;
	pthread_t ids[THREADS_MAX];

	rounds = argc > 2 ? strtol(argv[2], NULL, 10) : 60;
	if (threads < 1 || threads > THREADS_MAX || rounds < 1) {
		fprintf(stderr, "usage: %s [threads [rounds]]\n", argv[0]);
		return 2;
	}
	pthread_barrier_init(&round_end, NULL, (unsigned int)threads);
	for (long i = 0; i < threads; i++)
		if (pthread_create(&ids[i], NULL, worker, (void *)i) != 0)
			return 1;
	for (long i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	return 0;
}
