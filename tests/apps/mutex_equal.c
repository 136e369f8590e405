// SPDX-License-Identifier: BSD-3-Clause
// Threads with equal work, most of it under one mutex: all are equally critical.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/apps/work.h"

#define THREADS_MAX 64
#define PARALLEL_NS 2000000
#define LOCKED_NS 8000000

static pthread_mutex_t big_lock = PTHREAD_MUTEX_INITIALIZER;
static long loops;

static void *worker(void *arg)
{
	(void)arg;
	for (long i = 0; i < loops; i++) {
		work_for_ns(PARALLEL_NS);
		pthread_mutex_lock(&big_lock);
		work_for_ns(LOCKED_NS);
		pthread_mutex_unlock(&big_lock);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	long threads = argc > 1 ? strtol(argv[1], NULL, 10) : 2;
	pthread_t ids[THREADS_MAX];

	loops = argc > 2 ? strtol(argv[2], NULL, 10) : 100;
	if (threads < 1 || threads > THREADS_MAX || loops < 1) {
		fprintf(stderr, "usage: %s [threads [loops]]\n", argv[0]);
		return 2;
	}
	for (long i = 0; i < threads; i++)
		if (pthread_create(&ids[i], NULL, worker, NULL) != 0)
			return 1;
	for (long i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	return 0;
}
