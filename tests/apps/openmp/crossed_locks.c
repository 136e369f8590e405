// SPDX-License-Identifier: BSD-3-Clause
// A team works for a while; then two of its threads enter two critical sections in opposite order,
// or take two locks so, and the others wait for them in a barrier until the program is killed.
// usage: crossed_locks critical|lock MILLISECONDS
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "tests/apps/work.h"

static omp_lock_t first, second;

/* Both have their first lock by then. */
static void meet_other(void)
{
	static int count;
	int seen = 0;

#pragma omp atomic
	count++;
	while (seen < 2) {
#pragma omp atomic read
		seen = count;
	}
}

static __attribute__((noinline)) void enter_first(void)
{
#pragma omp critical(first)
	work_for_ns(1000);
}

static __attribute__((noinline)) void enter_second(void)
{
#pragma omp critical(second)
	work_for_ns(1000);
}

static void enter_both(int number)
{
	if (number == 0) {
#pragma omp critical(first)
		{
			meet_other();
			enter_second();
		}
	} else if (number == 1) {
#pragma omp critical(second)
		{
			meet_other();
			enter_first();
		}
	}
}

static __attribute__((noinline)) void lock_both(omp_lock_t *one, omp_lock_t *other)
{
	omp_set_lock(one);
	meet_other();
	omp_set_lock(other);
	omp_unset_lock(other);
}

int main(int argc, char **argv)
{
	const int work_ms = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 100;

	omp_init_lock(&first);
	omp_init_lock(&second);
#pragma omp parallel num_threads(3)
	{
		const int number = omp_get_thread_num();

		work_for_ns(work_ms * 1000000ll);
		if (argc > 1 && strcmp(argv[1], "critical") == 0)
			enter_both(number);
		else if (number < 2)
			lock_both(number ? &second : &first, number ? &first : &second);
	}
	return 0;
}
