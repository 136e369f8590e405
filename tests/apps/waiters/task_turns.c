// SPDX-License-Identifier: BSD-3-Clause
// One thread makes a task, sees another one begin it, and waits until it is done.
// depend: and until a second one is, which either of them begins when the first one is over.
// usage: task_turns wait|group|depend ROUNDS MS
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

static void make_two(long ms)
{
	const long before = begun;
	static int token;

	(void)token;

#pragma omp task firstprivate(ms) depend(out : token)
	work(ms);
	while (begun == before)
		sched_yield();
#pragma omp task depend(in : token)
	work_for_ns(100000);
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	const int is_group = !strcmp(argv[1], "group"), is_two = !strcmp(argv[1], "depend");
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
				if (is_two)
					make_two(ms);
				else
					make(ms, 0);
#pragma omp taskwait
			}
		}
	}
	printf("%ld %ld\n", tids[0], tids[1]);
	return 0;
}
