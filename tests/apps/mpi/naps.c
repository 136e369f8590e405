// SPDX-License-Identifier: BSD-3-Clause
// Sleeps between calls: the kernel sees it go right after one and come back right before the next.
#include <mpi.h>

#include "tests/apps/work.h"

int main(int argc, char **argv)
{
	const struct timespec nap = { .tv_nsec = 2000000 };
	int rank;

	MPI_Init(&argc, &argv);
	for (int i = 0; i < 200; i++) {
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		nanosleep(&nap, NULL);
	}
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
