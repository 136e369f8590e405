// SPDX-License-Identifier: BSD-3-Clause
// Ranks in a line sleep, and meet their neighbours, 25 times.
// usage: neighbours MS-OF-RANK-0 MS-OF-OTHERS now|later
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

static void meet(MPI_Comm line, int is_later)
{
	int out[2] = { 1, 2 }, in[2];
	MPI_Request request;

	if (!is_later) {
		MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, line);
		return;
	}
	MPI_Ineighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, line, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	int rank, size, is_periodic = 0;
	MPI_Comm line;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &is_periodic, 0, &line);
	for (int i = 0; i < 25 && argc > 3; i++) {
		sleep_ms(atol(argv[rank ? 2 : 1]));
		meet(line, !strcmp(argv[3], "later"));
	}
	MPI_Finalize();
	return 0;
}
