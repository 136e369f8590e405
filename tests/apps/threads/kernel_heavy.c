// SPDX-License-Identifier: BSD-3-Clause
// More threads than CPUs, nearly always inside the kernel: preempted there, not in user code.
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "tests/apps/work.h"

#define THREADS_MAX 64
#define CHUNK_BYTES (4u << 20)

static int64_t cpu_ns;

static void *worker(void *arg)
{
	long number = (long)arg;
	char *buffer = malloc(CHUNK_BYTES);
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	while (buffer && zero >= 0 && work_clock_ns(CLOCK_THREAD_CPUTIME_ID) < cpu_ns) {
		if ((number % 2 ? getrandom(buffer, CHUNK_BYTES / 8, 0)
				: read(zero, buffer, CHUNK_BYTES)) < 0)
			break;
		if (number % 3 == 2)
			usleep(500);
	}
	if (zero >= 0)
		close(zero);
	free(buffer);
	return NULL;
}

int main(int argc, char **argv)
{
	long threads = argc > 1 ? strtol(argv[1], NULL, 10) : 5;
	pthread_t ids[THREADS_MAX];

	cpu_ns = (argc > 2 ? strtoll(argv[2], NULL, 10) : 800) * 1000000;
	if (threads < 1 || threads > THREADS_MAX || cpu_ns < 1) {
		fprintf(stderr, "usage: %s [threads [ms of CPU time each]]\n", argv[0]);
		return 2;
	}
	for (long i = 0; i < threads; i++)
		if (pthread_create(&ids[i], NULL, worker, (void *)i) != 0)
			return 1;
	for (long i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	return 0;
}
