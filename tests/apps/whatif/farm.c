// SPDX-License-Identifier: BSD-3-Clause
// A master and its workers: rank 0 takes A ms to prepare a task, each other rank B ms to do it.
// Tasks go round; a worker has the next one while it works.
// usage: farm TASKS A B
#include <mpi.h>
#include <stdlib.h>

#include "tests/apps/work.h"

static __attribute__((noinline)) void prepare(double ms)
{
	WORK_HERE(ms);
}

/* Not the same code, or the compiler makes it one function. */
static __attribute__((noinline)) void work(double ms)
{
	WORK_HERE(ms + 0.001);
}

static void receive(int from)
{
	int token;

	MPI_Recv(&token, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void lead(long tasks, int workers, double prepare_ms)
{
	for (int i = 0; i < (int)tasks + workers; i++) {
		if (i < tasks) {
			prepare(prepare_ms);
			MPI_Send(&i, 1, MPI_INT, 1 + i % workers, 0, MPI_COMM_WORLD);
		}
		if (i >= workers)
			receive(1 + (i - workers) % workers);
	}
}

static void follow(long tasks, int rank, int workers, double work_ms)
{
	for (int i = rank - 1; i < (int)tasks; i += workers) {
		receive(0);
		work(work_ms);
		MPI_Send(&i, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
	}
}

int main(int argc, char **argv)
{
	int rank, size;
	long tasks;

	if (argc != 4)
		return 2;
	tasks = strtol(argv[1], NULL, 10);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	work_pin(rank);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		lead(tasks, size - 1, strtod(argv[2], NULL));
	else
		follow(tasks, rank, size - 1, strtod(argv[3], NULL));
	MPI_Finalize();
	return 0;
}
