// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 reads a line, which its launcher passes on to it, and all meet; until there are no more.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	int rank, is_going_on = 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	while (is_going_on) {
		char line[64];

		if (!rank)
			is_going_on = fgets(line, sizeof(line), stdin) != NULL;
		MPI_Bcast(&is_going_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
