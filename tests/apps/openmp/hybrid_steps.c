// SPDX-License-Identifier: BSD-3-Clause
// Ranks whose OpenMP threads work by a table in one parallel region per step, then MPI_Barrier.
#include <getopt.h>
#include <mpi.h>
#include <omp.h>

#include "tests/apps/steps.h"

static struct steps steps = { .count = 40 };
static int threads = 2;

static int parse_options(int argc, char **argv)
{
	int c, is_wrong = 0;

	while ((c = getopt(argc, argv, "n:t:m:a")) != -1) {
		if (c == 'n')
			steps.count = (int)strtol(optarg, NULL, 10);
		else if (c == 't')
			threads = (int)strtol(optarg, NULL, 10);
		else if (c == 'm')
			is_wrong |= steps_parse_list(&steps, optarg);
		else if (c == 'a')
			steps.is_alternating = 1;
		else
			is_wrong = 1;
	}
	return is_wrong || steps.ms_count == 0 || threads < 1 || threads > STEPS_WORKERS_MAX;
}

/* The table is that of ranks: threads of a rank work alike. */
static void run_steps(int rank, int size, struct steps_used *used)
{
	for (int step = 0; step < steps.count; step++) {
#pragma omp parallel num_threads(threads)
		steps_work(&steps, step, rank, size, &used[omp_get_thread_num()]);
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

int main(int argc, char **argv)
{
	struct steps_used used[STEPS_WORKERS_MAX] = { { 0 } };
	int rank, size, level;

	if (parse_options(argc, argv)) {
		fprintf(stderr, "usage: %s [-n steps] [-t threads] [-a] -m MS:MS…\n", argv[0]);
		return 2;
	}
	omp_set_dynamic(0);
	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Barrier(MPI_COMM_WORLD);
	run_steps(rank, size, used);
	for (int i = 0; i < threads; i++)
		steps_say(rank, &used[i]);
	MPI_Finalize();
	return 0;
}
