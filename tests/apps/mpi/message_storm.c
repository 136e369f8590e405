// SPDX-License-Identifier: BSD-3-Clause
// Ranks that spin, and every now and then make one-sided messages as fast as they can, as quantum
// chemistry does: asking for the type's extent before each, completing them on their own side.
#include <mpi.h>
#include <stdlib.h>

#include "tests/apps/work.h"

static void storm(MPI_Win win, int target, long messages)
{
	const double one = 1;
	MPI_Aint low, extent;

	for (long i = 0; i < messages; i++) {
		MPI_Type_get_true_extent(MPI_DOUBLE, &low, &extent);
		MPI_Type_get_true_extent(MPI_DOUBLE, &low, &extent);
		MPI_Accumulate(&one, 1, MPI_DOUBLE, target, 0, 1, MPI_DOUBLE, MPI_SUM, win);
		if (i % 2)
			MPI_Win_flush_local_all(win);
	}
}

int main(int argc, char **argv)
{
	const long storms = argc > 1 ? strtol(argv[1], NULL, 10) : 20;
	const long messages = argc > 2 ? strtol(argv[2], NULL, 10) : 50000;
	const long pause_us = argc > 3 ? strtol(argv[3], NULL, 10) : 50000;
	double *memory;
	MPI_Win win;
	int rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	work_pin(rank);
	MPI_Win_allocate(sizeof(*memory), sizeof(*memory), MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
			 &win);
	*memory = 0;
	MPI_Win_lock_all(0, win);
	MPI_Barrier(MPI_COMM_WORLD);
	for (long i = 0; i < storms; i++) {
		work_for_ns(pause_us * 1000);
		MPI_Barrier(MPI_COMM_WORLD);
		storm(win, (rank + 1) % size, messages);
	}
	MPI_Win_unlock_all(win);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
