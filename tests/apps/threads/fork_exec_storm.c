// SPDX-License-Identifier: BSD-3-Clause
// Many short-lived children, a few at a time: plain forks, forks with threads, and fork plus exec.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "tests/apps/work.h"

#define LEAF_NS 1000000
#define IN_FLIGHT 4

static void *leaf_thread(void *arg)
{
	work_for_ns(LEAF_NS);
	return arg;
}

static void child_main(const char *self, long number)
{
	pthread_t a, b;

	if (number % 3 == 0)
		execl(self, self, "leaf", (char *)NULL);
	if (number % 3 == 1 && pthread_create(&a, NULL, leaf_thread, NULL) == 0) {
		if (pthread_create(&b, NULL, leaf_thread, NULL) == 0)
			pthread_join(b, NULL);
		pthread_join(a, NULL);
	}
	work_for_ns(LEAF_NS);
	_exit(0);
}

static int storm(const char *self, long children)
{
	int in_flight = 0;

	for (long i = 0; i < children; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (pid == 0)
			child_main(self, i);
		if (++in_flight >= IN_FLIGHT && wait(NULL) > 0)
			in_flight--;
	}
	while (wait(NULL) > 0)
		;
	return 0;
}

int main(int argc, char **argv)
{
	long children = argc > 1 ? strtol(argv[1], NULL, 10) : 600;

	if (argc > 1 && strcmp(argv[1], "leaf") == 0) {
		work_for_ns(LEAF_NS);
		return 0;
	}
	if (children < 1) {
		fprintf(stderr, "usage: %s [children]\n", argv[0]);
		return 2;
	}
	return storm("/proc/self/exe", children);
}
