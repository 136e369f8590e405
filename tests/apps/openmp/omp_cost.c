// SPDX-License-Identifier: BSD-3-Clause
// What constructs of OpenMP cost, to be compared with and without a tool.
//
// usage: omp_cost                   one line per construct: NAME nanoseconds; in a team of one
//        omp_cost barriers COUNT    so many barriers of two threads, and nothing else
// Each figure is the first percentile of chunk means, so that what else the machine does stays out.
// Between chunks the program sleeps, for the collector to drain the rings.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHUNK 500
#define CHUNKS 400
#define WARM_UP 50
#define PAUSE_NS 1000000

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void repeat_barrier(void)
{
	for (int i = 0; i < CHUNK; i++) {
#pragma omp barrier
	}
}

static void repeat_critical(void)
{
	for (int i = 0; i < CHUNK; i++) {
#pragma omp critical
		__asm__ volatile("" ::: "memory");
	}
}

static void repeat_single(void)
{
	for (int i = 0; i < CHUNK; i++) {
#pragma omp single nowait
		__asm__ volatile("" ::: "memory");
	}
}

static void repeat_parallel(void)
{
	for (int i = 0; i < CHUNK; i++) {
#pragma omp parallel num_threads(1)
		__asm__ volatile("" ::: "memory");
	}
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(const char *name, void (*repeat)(void))
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	double means[CHUNKS];

	for (int i = 0; i < WARM_UP; i++)
		repeat();
	for (int i = 0; i < CHUNKS; i++) {
		int64_t start_ns;

		nanosleep(&pause, NULL);
		start_ns = now_ns();
		repeat();
		means[i] = (double)(now_ns() - start_ns) / CHUNK;
	}
	qsort(means, CHUNKS, sizeof(means[0]), compare);
	printf("%s %.2f\n", name, means[CHUNKS / 100]);
}

static void meet(long count)
{
#pragma omp parallel num_threads(2)
	for (long i = 0; i < count; i++) {
#pragma omp barrier
	}
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "barriers") == 0) {
		meet(strtol(argv[2], NULL, 10));
		return 0;
	}
#pragma omp parallel num_threads(1)
	{
		measure("barrier", repeat_barrier);
		measure("critical", repeat_critical);
		measure("single", repeat_single);
	}
	measure("parallel", repeat_parallel);
	return 0;
}
