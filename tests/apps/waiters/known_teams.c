// SPDX-License-Identifier: BSD-3-Clause
// A team of two in which thread 1 comes late by a known time; both tell when, and when they went
// on.
//   barrier  to a barrier
//   end      to the end of a parallel region
//   idle     to nothing, but thread 0 works between parallel regions, and a little in them
// In end and idle thread 0 has two acts a round: it comes to the region, and to its end.
// At the end thread 1 ends the process while thread 0 works: nobody waits for what is not told.
// usage: known_teams MODE ROUNDS MS
// prints a line each: thread, and of each act ns of the monotonic clock when it came to it and when
// it had left it
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "tests/apps/work.h"

#define ACTS_MAX 4096

static struct {
	struct {
		int64_t came_ns, left_ns;
	} acts[ACTS_MAX];
	long tid, count;
} threads[2];

static void come(int number)
{
	threads[number].tid = syscall(SYS_gettid);
	if (threads[number].count < ACTS_MAX)
		threads[number].acts[threads[number].count++].came_ns =
			work_clock_ns(CLOCK_MONOTONIC);
}

/* It has left what it last came to, if that was not told yet. */
static void leave(int number)
{
	const long count = threads[number].count;

	if (count > 0 && threads[number].acts[count - 1].left_ns == 0)
		threads[number].acts[count - 1].left_ns = work_clock_ns(CLOCK_MONOTONIC);
}

static void meet(long rounds, int64_t work_ns)
{
#pragma omp parallel num_threads(2)
	{
		const int number = omp_get_thread_num();

		for (long i = 0; i < rounds; i++) {
			if (number == 1)
				work_for_ns(work_ns);
			come(number);
#pragma omp barrier
			leave(number);
		}
		come(number); /* to the end of the region */
	}
}

/* In each round a region, and what thread 0 does before it. */
static void part(long rounds, int64_t work_ns, int is_idle)
{
	for (long i = 0; i < rounds; i++) {
		if (is_idle)
			work_for_ns(work_ns);
		come(0);
#pragma omp parallel num_threads(2)
		{
			const int number = omp_get_thread_num();

			leave(number);
			if (number == (is_idle ? 0 : 1))
				work_for_ns(is_idle ? work_ns / 10 : work_ns);
			come(number);
		}
		leave(0);
	}
	come(0);
}

static _Noreturn void tell(void)
{
	for (int number = 0; number < 2; number++)
		for (long i = 0; i < threads[number].count; i++)
			printf("%ld %lld %lld\n", threads[number].tid,
			       (long long)threads[number].acts[i].came_ns,
			       (long long)threads[number].acts[i].left_ns);
	exit(0);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	const long rounds = strtol(argv[2], NULL, 10);
	const int64_t work_ns = strtol(argv[3], NULL, 10) * 1000000;

	if (!strcmp(argv[1], "barrier"))
		meet(rounds, work_ns);
	else
		part(rounds, work_ns, !strcmp(argv[1], "idle"));
#pragma omp parallel num_threads(2)
	{
		leave(omp_get_thread_num());
		if (omp_get_thread_num() == 1)
			tell();
		for (;;)
			work_for_ns(work_ns);
	}
}
