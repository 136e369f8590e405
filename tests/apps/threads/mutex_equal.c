// SPDX-License-Identifier: BSD-3-Clause
// Threads with equal work, most of it under one mutex: all are equally critical.
#include "tests/apps/threads/crew.h"
#include "tests/apps/work.h"

#define PARALLEL_NS 2000000
#define LOCKED_NS 8000000

static pthread_mutex_t big_lock = PTHREAD_MUTEX_INITIALIZER;
static struct crew crew = { .threads = 2, .rounds = 100 };

static void *worker(void *arg)
{
	(void)arg;
	for (long i = 0; i < crew.rounds; i++) {
		work_for_ns(PARALLEL_NS);
		pthread_mutex_lock(&big_lock);
		work_for_ns(LOCKED_NS);
		pthread_mutex_unlock(&big_lock);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	return crew_parse(&crew, argc, argv) ? crew_run(&crew, worker) : 2;
}
