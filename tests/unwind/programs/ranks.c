// SPDX-License-Identifier: BSD-3-Clause
// The nested calls between messages; rank 0 does most.
#include <mpi.h>
#include <sys/prctl.h>

#include "tests/unwind/programs/nest.h"

int main(int argc, char **argv)
{
	double values[256] = { 0 };
	double sums[256];
	int is_left = 1;
	int rank;

	MPI_Init(&argc, &argv);
	(void)prctl(PR_SET_NAME, "marked", 0, 0, 0);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	while (is_left) {
		for (int i = 0; i < 3 && rank == 0; i++)
			level1();
		MPI_Allreduce(values, sums, 256, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		MPI_Barrier(MPI_COMM_WORLD);
		is_left = is_time_left(1);
		MPI_Bcast(&is_left, 1, MPI_INT, 0, MPI_COMM_WORLD);
	}
	(void)prctl(PR_SET_NAME, "ended", 0, 0, 0);
	MPI_Finalize();
	return 0;
}
