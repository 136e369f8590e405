/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions that know their own CMetric: the integral of dt/n over the time in them, with n of the
 * process's threads in any of them.
 */
#ifndef CRIT_TESTS_CLOCKED_H
#define CRIT_TESTS_CLOCKED_H

#include <pthread.h>
#include <stdio.h>

#include "tests/apps/work.h"

struct clocked {
	int64_t cpu_ns;
	double cmetric_ns;
};

static struct {
	pthread_mutex_t lock;
	int64_t now_ns;
	double integral_ns;
	int active;
} clocked_metric = { PTHREAD_MUTEX_INITIALIZER, 0, 0, 0 };

/* A thread begins its work, or ends that begun at since_ns: yields the integral of dt/n so far. */
static inline double clocked_count(int change, struct clocked *place, double since_ns,
				   int64_t cpu_ns)
{
	double integral_ns;
	int64_t now_ns;

	(void)pthread_mutex_lock(&clocked_metric.lock);
	now_ns = work_clock_ns(CLOCK_MONOTONIC);
	if (clocked_metric.active)
		clocked_metric.integral_ns +=
			(double)(now_ns - clocked_metric.now_ns) / clocked_metric.active;
	clocked_metric.now_ns = now_ns;
	clocked_metric.active += change;
	integral_ns = clocked_metric.integral_ns;
	if (change < 0) {
		place->cmetric_ns += integral_ns - since_ns;
		place->cpu_ns += cpu_ns;
	}
	(void)pthread_mutex_unlock(&clocked_metric.lock);
	return integral_ns;
}

#define CLOCKED_TURNS 20000 /* of a loop, 10 us or so */

/* Most of the turns that are left, as so many took so long: clocks are read seldom, none late. */
static inline int64_t clocked_rest(int64_t turns, int64_t used_ns, int64_t work_ns)
{
	const double rest =
		used_ns ? 0.75 * (double)turns * (double)(work_ns - used_ns) / (double)used_ns : 0;

	return rest > CLOCKED_TURNS ? (int64_t)rest : CLOCKED_TURNS;
}

/* Uses CPU time, and hardly ever asks for it: that is code of the C library.  A macro, so that the
 * line is one of the function it is in. */
#define CLOCKED_WORK(place, work_ns)                                                               \
	do {                                                                                       \
		const int64_t clocked_begin_ns = work_clock_ns(CLOCK_THREAD_CPUTIME_ID);           \
		const double clocked_mark_ns = clocked_count(1, NULL, 0, 0);                       \
		int64_t clocked_used_ns = 0, clocked_turns = 0, clocked_next = CLOCKED_TURNS;      \
                                                                                                   \
		while (clocked_used_ns < (work_ns)) {                                              \
			for (volatile int64_t i = 0; i < clocked_next; i++)                        \
				;                                                                  \
			clocked_turns += clocked_next;                                             \
			clocked_used_ns =                                                          \
				work_clock_ns(CLOCK_THREAD_CPUTIME_ID) - clocked_begin_ns;         \
			clocked_next = clocked_rest(clocked_turns, clocked_used_ns, (work_ns));    \
		}                                                                                  \
		(void)clocked_count(-1, (place), clocked_mark_ns, clocked_used_ns);                \
	} while (0)

/* Name, code from and to, CPU time in ns, threads that are there at a time, CMetric in ns. */
static inline void clocked_tell(const char *name, const struct clocked *place, const char *begin,
				const char *end, int side_by_side)
{
	printf("%s %p %p %lld %d %.0f\n", name, (const void *)begin, (const void *)end,
	       (long long)place->cpu_ns, side_by_side, place->cmetric_ns);
}

#endif
