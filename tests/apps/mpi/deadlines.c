// SPDX-License-Identifier: BSD-3-Clause
// Ranks that work until a wall-clock deadline: known shares, however many of them share a CPU.
#include <getopt.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/apps/work.h"

#define RANKS_MAX 64
#define GAP_NS 200000000 /* between phases: all have left the barrier by then */
#define BYTES 64

struct options {
	int phases;
	int ms_count;
	double ms[RANKS_MAX];
};

static int parse_options(int argc, char **argv, struct options *o)
{
	char *save = NULL;
	int c;

	while ((c = getopt(argc, argv, "n:m:")) != -1) {
		if (c == 'n')
			o->phases = (int)strtol(optarg, NULL, 10);
		else if (c != 'm')
			return -1;
		for (char *t = c == 'm' ? strtok_r(optarg, ":", &save) : NULL;
		     t && o->ms_count < RANKS_MAX; t = strtok_r(NULL, ":", &save))
			o->ms[o->ms_count++] = strtod(t, NULL);
	}
	return o->phases > 0 && o->ms_count > 0 ? 0 : -1;
}

static void sleep_until(int64_t end_ns)
{
	struct timespec end = { .tv_sec = end_ns / 1000000000, .tv_nsec = end_ns % 1000000000 };

	while (clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &end, NULL) != 0)
		;
}

static void work_until(int64_t end_ns)
{
	while (work_clock_ns(CLOCK_REALTIME) < end_ns)
		for (volatile int i = 0; i < 2000; i++)
			;
}

/* Messages from everyone to everyone, and back. */
static void exchange(int rank, int size)
{
	char out[BYTES] = { 0 }, in[BYTES];

	for (int step = 1 - size; step < size; step++) {
		int to = (rank + size + step) % size, from = (rank + size - step) % size;

		MPI_Sendrecv(out, BYTES, MPI_BYTE, to, step + size, in, BYTES, MPI_BYTE, from,
			     step + size, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
}

int main(int argc, char **argv)
{
	struct options o = { .phases = 2 };
	int64_t begin_ns, period_ns = GAP_NS;
	int rank, size;

	if (parse_options(argc, argv, &o) != 0) {
		fprintf(stderr, "usage: %s [-n phases] -m MS:MS...\n", argv[0]);
		return 2;
	}
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int i = 0; i < o.ms_count; i++)
		if (period_ns < GAP_NS + (int64_t)(o.ms[i] * 1e6))
			period_ns = GAP_NS + (int64_t)(o.ms[i] * 1e6);
	exchange(rank, size);
	begin_ns = work_clock_ns(CLOCK_REALTIME) + GAP_NS;
	MPI_Bcast(&begin_ns, sizeof(begin_ns), MPI_BYTE, 0, MPI_COMM_WORLD);
	for (int phase = 0; phase < o.phases; phase++) {
		sleep_until(begin_ns + phase * period_ns);
		work_until(begin_ns + phase * period_ns + (int64_t)(o.ms[rank % o.ms_count] * 1e6));
		exchange(rank, size);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
