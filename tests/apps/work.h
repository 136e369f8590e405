/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Work measured by what it costs: spin until the calling thread has used so much CPU time, so that
 * known imbalances stay known on a busy machine.
 */
#ifndef CRIT_TESTS_WORK_H
#define CRIT_TESTS_WORK_H

#include <sched.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

static inline int64_t work_clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

/* Uses cpu_ns of CPU time of the calling thread, never blocking; asks for the time every 6 us or
 * so, so that most of it is spent in the function this stands in. */
static inline void work_for_ns(int64_t cpu_ns)
{
	int64_t end_ns = work_clock_ns(CLOCK_THREAD_CPUTIME_ID) + cpu_ns;

	while (work_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
		for (volatile int i = 0; i < 20000; i++)
			;
}

/* The same, as code of the function it stands in: seldom asks for the time, which is code of the C
 * library; what it does too much the thread does less the next time. */
#define WORK_HERE(ms)                                                                              \
	do {                                                                                       \
		static __thread int64_t ahead_ns;                                                  \
		const int64_t end_ns =                                                             \
			work_clock_ns(CLOCK_THREAD_CPUTIME_ID) - ahead_ns + (int64_t)(1e6 * (ms)); \
                                                                                                   \
		while ((ahead_ns = work_clock_ns(CLOCK_THREAD_CPUTIME_ID) - end_ns) < 0)           \
			for (volatile int i = 0; i < 400000; i++)                                  \
				;                                                                  \
	} while (0)

/* Those the program may use; a new thread may use those of its creator. */
static cpu_set_t work_cpus;

__attribute__((constructor)) static void work_find_cpus(void)
{
	if (sched_getaffinity(0, sizeof(work_cpus), &work_cpus) != 0)
		CPU_ZERO(&work_cpus);
}

/* Binds the calling thread to one of the program's CPUs, round robin by number. */
static inline void work_pin(int number)
{
	cpu_set_t one;
	int cpu;

	if (CPU_COUNT(&work_cpus) == 0)
		return;
	number %= CPU_COUNT(&work_cpus);
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &work_cpus) && number-- == 0)
			break;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	(void)sched_setaffinity(0, sizeof(one), &one);
}

static inline void work_unpin(void)
{
	if (CPU_COUNT(&work_cpus))
		(void)sched_setaffinity(0, sizeof(work_cpus), &work_cpus);
}

#endif
