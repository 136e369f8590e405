// SPDX-License-Identifier: BSD-3-Clause
// Sleeps between calls: the kernel sees it go right after one and come back right before the next.
// naps late: rank 0 sleeps before each barrier, and the others have nothing to do.
#include <mpi.h>

#include "tests/apps/work.h"

static void come_late(void)
{
	const struct timespec nap = { .tv_nsec = 40000000 };
	int rank;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 20; i++) {
		if (rank == 0)
			nanosleep(&nap, NULL);
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

int main(int argc, char **argv)
{
	const struct timespec nap = { .tv_nsec = 2000000 };
	int rank;

	MPI_Init(&argc, &argv);
	if (argc > 1) {
		come_late();
		MPI_Finalize();
		return 0;
	}
	for (int i = 0; i < 200; i++) {
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		nanosleep(&nap, NULL);
	}
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
