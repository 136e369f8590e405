/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Workers that do a known amount of work in each step: the table, and what the work took by the
 * clocks of the program.
 */
#ifndef CRIT_TESTS_STEPS_H
#define CRIT_TESTS_STEPS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/apps/work.h"

#define STEPS_WORKERS_MAX 64

struct steps {
	int count;
	int is_alternating; /* odd steps use the list backwards */
	int ms_count;
	double ms[STEPS_WORKERS_MAX]; /* of the workers; begins again after the last */
};

struct steps_used { /* by the work of one worker */
	int64_t cpu_ns;
	int64_t wall_ns;
};

/* Takes a list such as 30:10; answers 0, or -1 when it is none. */
static inline int steps_parse_list(struct steps *steps, char *text)
{
	char *save = NULL;

	for (char *t = strtok_r(text, ":,", &save); t; t = strtok_r(NULL, ":,", &save)) {
		if (steps->ms_count == STEPS_WORKERS_MAX)
			return -1;
		steps->ms[steps->ms_count++] = strtod(t, NULL);
	}
	return steps->ms_count ? 0 : -1;
}

/* The work of a step, by worker number of size. */
static inline void steps_work(const struct steps *steps, int step, int number, int size,
			      struct steps_used *used)
{
	const int slot = steps->is_alternating && step % 2 ? size - 1 - number : number;
	const int64_t cpu_ns = work_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	const int64_t wall_ns = work_clock_ns(CLOCK_MONOTONIC);

	work_for_ns((int64_t)(steps->ms[slot % steps->ms_count] * 1e6));
	used->wall_ns += work_clock_ns(CLOCK_MONOTONIC) - wall_ns;
	used->cpu_ns += work_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
}

/* One line: the worker's number (a rank, or 0 without ranks), its thread, CPU and wall seconds. */
static inline void steps_say(int rank, const struct steps_used *used)
{
	printf("work %d %d %.9f %.9f\n", rank, (int)gettid(), (double)used->cpu_ns * 1e-9,
	       (double)used->wall_ns * 1e-9);
	(void)fflush(stdout);
}

#endif
