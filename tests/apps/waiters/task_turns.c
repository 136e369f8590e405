// SPDX-License-Identifier: BSD-3-Clause
// One thread makes a task, sees another one begin it, and waits until it is done.
// usage: task_turns wait|group ROUNDS MS
#include <omp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "tests/apps/work.h"

static _Atomic long begun;
static long tids[2];

static void work(long ms)
{
	tids[1] = syscall(SYS_gettid);
	begun++;
	work_for_ns(ms * 1000000);
}

static void make(long ms, int is_deep)
{
	const long before = begun;

	if (is_deep) {
		/* a task that makes the task, which the group is for, too */
#pragma omp task firstprivate(ms) if (0)
		{
#pragma omp task firstprivate(ms)
			work(ms);
		}
	} else {
#pragma omp task firstprivate(ms)
		work(ms);
	}
	while (begun == before)
		sched_yield();
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	const int is_group = !strcmp(argv[1], "group");
	const long rounds = strtol(argv[2], NULL, 10), ms = strtol(argv[3], NULL, 10);

#pragma omp parallel num_threads(2)
#pragma omp single
	{
		tids[0] = syscall(SYS_gettid);
		for (long i = 0; i < rounds; i++) {
			if (is_group) {
#pragma omp taskgroup
				make(ms, 1);
			} else {
				make(ms, 0);
#pragma omp taskwait
			}
		}
	}
	printf("%ld %ld\n", tids[0], tids[1]);
	return 0;
}
