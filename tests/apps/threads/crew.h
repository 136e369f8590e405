/* SPDX-License-Identifier: BSD-3-Clause */
/* A crew of threads that do the same so many times; both numbers can be given as arguments. */
#ifndef CRIT_TESTS_CREW_H
#define CRIT_TESTS_CREW_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define CREW_MAX 64

struct crew {
	long threads;
	long rounds;
};

/* Takes the arguments [THREADS [ROUNDS]]; answers 0 after saying what is wrong. */
static inline int crew_parse(struct crew *crew, int argc, char **argv)
{
	if (argc > 1)
		crew->threads = strtol(argv[1], NULL, 10);
	if (argc > 2)
		crew->rounds = strtol(argv[2], NULL, 10);
	if (crew->threads >= 1 && crew->threads <= CREW_MAX && crew->rounds >= 1)
		return 1;
	fprintf(stderr, "usage: %s [threads [rounds]]\n", argv[0]);
	return 0;
}

/* Runs worker, given its number, in every thread; answers the program's exit status. */
static inline int crew_run(const struct crew *crew, void *(*worker)(void *number))
{
	pthread_t ids[CREW_MAX];

	for (long i = 0; i < crew->threads; i++)
		if (pthread_create(&ids[i], NULL, worker, (void *)i) != 0)
			return 1;
	for (long i = 0; i < crew->threads; i++)
		pthread_join(ids[i], NULL);
	return 0;
}

#endif
