// SPDX-License-Identifier: BSD-3-Clause
// Parallel regions and tasks, many in one function: comments say what a report must call them.
//
// A comment "at FUNCTION, N visits" stands on each directive.  With LIBRARY this is a
// library with one function; else the program, which calls it.
#include <stdio.h>

long region_lines_sums[4];

static inline void add(long *sum, long summand)
{
#pragma omp atomic
	*sum += summand;
}

void region_lines_outside(long rounds);

#ifdef LIBRARY
void region_lines_outside(long rounds)
{
#pragma omp parallel for num_threads(2) // parallel at region_lines_outside, 1 visits
	for (long i = 0; i < rounds; i++)
		add(&region_lines_sums[0], i);
#pragma omp parallel num_threads(2) // parallel at region_lines_outside, 1 visits
	add(&region_lines_sums[1], rounds);
}
#else
/* The second one is the last thing it does: its call may be a jump. */
static __attribute__((noinline)) void same_twice(long rounds)
{
#pragma omp parallel for num_threads(2) // parallel at same_twice, 2 visits
	for (long i = 0; i < rounds; i++)
		add(&region_lines_sums[2], 2 * i);
#pragma omp parallel for num_threads(2) // parallel at same_twice, 2 visits
	for (long i = 0; i < rounds; i++)
		add(&region_lines_sums[2], 2 * i);
}

static inline void inlined(long rounds)
{
#pragma omp parallel num_threads(2) // parallel at inlined, 2 visits
	add(&region_lines_sums[3], rounds);
}

static void nested(long rounds)
{
#pragma omp parallel num_threads(2) // parallel at nested, 1 visits
	{
		add(&region_lines_sums[0], rounds);
#pragma omp parallel num_threads(1) // parallel at nested, 2 visits
		add(&region_lines_sums[1], rounds);
		add(&region_lines_sums[0],
		    1); /* else clang's call is a jump, and has no place of its own */
	}
}

int main(int argc, char **argv)
{
	const long rounds = 10 * argc;

	(void)argv;
#pragma omp parallel num_threads(2) // parallel at main, 1 visits
	add(&region_lines_sums[0], rounds);
#pragma omp parallel for num_threads(2) schedule(dynamic) // parallel at main, 1 visits
	for (long i = 0; i < rounds; i++)
		add(&region_lines_sums[1], i);
	if (argc > 1) {
#pragma omp parallel num_threads(2) // parallel at main, 0 visits
		add(&region_lines_sums[2], rounds);
	}
#pragma omp parallel sections num_threads(2) // parallel at main, 1 visits
	{
#pragma omp section
		add(&region_lines_sums[2], 1);
#pragma omp section
		add(&region_lines_sums[3], 2);
	}
#pragma omp parallel num_threads(2) // parallel at main, 1 visits
#pragma omp single
	{
#pragma omp task // task at main, 1 visits
		add(&region_lines_sums[0], 1);
#pragma omp task // task at main, 1 visits
		add(&region_lines_sums[1], 2);
	}
	same_twice(rounds);
	same_twice(rounds);
	inlined(rounds);
	inlined(2 * rounds);
	nested(rounds);
	region_lines_outside(rounds);
	for (size_t i = 0; i < sizeof(region_lines_sums) / sizeof(region_lines_sums[0]); i++)
		printf("%ld\n", region_lines_sums[i]);
	return 0;
}
#endif
