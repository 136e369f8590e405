// SPDX-License-Identifier: BSD-3-Clause
// A team of two in which thread 1 comes late by a known time, and tells when.
//   barrier  to a barrier
//   end      to the end of a parallel region
//   idle     to nothing, but thread 0 works between parallel regions, and a little in them
// At the end thread 1 ends the process while thread 0 works: nobody waits for what is not told.
// usage: known_teams MODE ROUNDS MS
// prints a line each: thread, ns of the monotonic clock at each act
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "tests/apps/work.h"

#define ACTS_MAX 4096

static struct {
	int64_t acts_ns[ACTS_MAX];
	long tid, count;
} threads[2];

static void come(int number)
{
	threads[number].tid = syscall(SYS_gettid);
	if (threads[number].count < ACTS_MAX)
		threads[number].acts_ns[threads[number].count++] = work_clock_ns(CLOCK_MONOTONIC);
}

static void meet(long rounds, int64_t work_ns)
{
#pragma omp parallel num_threads(2)
	for (long i = 0; i < rounds; i++) {
		if (omp_get_thread_num() == 1)
			work_for_ns(work_ns);
		come(omp_get_thread_num());
#pragma omp barrier
	}
}

static _Noreturn void tell(void)
{
	for (int number = 0; number < 2; number++)
		for (long i = 0; i < threads[number].count; i++)
			printf("%ld %lld\n", threads[number].tid,
			       (long long)threads[number].acts_ns[i]);
	exit(0);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	const long rounds = strtol(argv[2], NULL, 10);
	const int64_t work_ns = strtol(argv[3], NULL, 10) * 1000000;
	const int is_idle = !strcmp(argv[1], "idle");

	if (!strcmp(argv[1], "barrier"))
		meet(rounds, work_ns);
	for (long i = 0; i < rounds && strcmp(argv[1], "barrier") != 0; i++) {
		if (is_idle) {
			work_for_ns(work_ns);
			come(0);
		}
#pragma omp parallel num_threads(2)
		{
			const int number = omp_get_thread_num();

			if (number == (is_idle ? 0 : 1))
				work_for_ns(is_idle ? work_ns / 10 : work_ns);
			if (number == 1 || !is_idle)
				come(number);
		}
	}
	if (is_idle)
		come(0);
#pragma omp parallel num_threads(2)
	{
		if (omp_get_thread_num() == 1)
			tell();
		for (;;)
			work_for_ns(work_ns);
	}
}
