// SPDX-License-Identifier: BSD-3-Clause
// Threads that work by a table between barriers, and a main thread that only waits for them.
#include <getopt.h>
#include <pthread.h>
#include <stdatomic.h>

#include "tests/apps/steps.h"

static struct steps steps = { .count = 40 };
static int worker_count = 4;
static int is_yielding; /* waiting is asking again, with sched_yield in between */
static pthread_barrier_t barrier;
static atomic_int arrived;

static void wait_for_all(int step)
{
	if (!is_yielding) {
		(void)pthread_barrier_wait(&barrier);
		return;
	}
	atomic_fetch_add(&arrived, 1);
	while (atomic_load(&arrived) < worker_count * (step + 1))
		(void)sched_yield();
}

static void *worker(void *argument)
{
	const int number = (int)(long)argument;
	struct steps_used used = { 0 };

	for (int step = 0; step < steps.count; step++) {
		steps_work(&steps, step, number, worker_count, &used);
		wait_for_all(step);
	}
	steps_say(0, &used);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t ids[STEPS_WORKERS_MAX];
	int c, is_wrong = 0;

	while ((c = getopt(argc, argv, "n:t:m:ay")) != -1) {
		if (c == 'n')
			steps.count = (int)strtol(optarg, NULL, 10);
		else if (c == 't')
			worker_count = (int)strtol(optarg, NULL, 10);
		else if (c == 'm')
			is_wrong |= steps_parse_list(&steps, optarg);
		else if (c == 'a')
			steps.is_alternating = 1;
		else if (c == 'y')
			is_yielding = 1;
		else
			is_wrong = 1;
	}
	if (is_wrong || steps.ms_count == 0 || worker_count < 1 ||
	    worker_count > STEPS_WORKERS_MAX) {
		fprintf(stderr, "usage: %s [-n steps] [-t threads] [-a] [-y] -m MS:MS…\n", argv[0]);
		return 2;
	}
	(void)pthread_barrier_init(&barrier, NULL, (unsigned int)worker_count);
	for (long i = 0; i < worker_count; i++)
		if (pthread_create(&ids[i], NULL, worker, (void *)i) != 0)
			return 1;
	for (int i = 0; i < worker_count; i++)
		(void)pthread_join(ids[i], NULL);
	return 0;
}
