// SPDX-License-Identifier: BSD-3-Clause
// More working threads than CPUs, each with its own mix of work, sleep, yield and a common barrier.
#include "tests/apps/threads/crew.h"
#include "tests/apps/work.h"

static pthread_barrier_t round_end;
static struct crew crew = { .threads = 8, .rounds = 60 };

static void *worker(void *arg)
{
	long number = (long)arg;

	for (long i = 0; i < crew.rounds; i++) {
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
	if (!crew_parse(&crew, argc, argv))
		return 2;
	pthread_barrier_init(&round_end, NULL, (unsigned int)crew.threads);
	return crew_run(&crew, worker);
}
