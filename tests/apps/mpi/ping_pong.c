// SPDX-License-Identifier: BSD-3-Clause
// Two ranks that send an empty message to and fro, with some work on rank 0 every thousand rounds.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/apps/work.h"

static void play(int rank, long rounds, int64_t work_ns)
{
	for (long i = 0; i < rounds; i++) {
		if (work_ns && rank == 0 && i % 1000 == 0)
			work_for_ns(work_ns);
		if (rank == 0)
			MPI_Send(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
		MPI_Recv(NULL, 0, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (rank == 1)
			MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
	}
}

int main(int argc, char **argv)
{
	long calls = argc > 1 ? strtol(argv[1], NULL, 10) : 1000000;
	int64_t work_ns = argc > 2 ? strtoll(argv[2], NULL, 10) * 1000 : 0;
	int rank;

	if (calls < 4) {
		fprintf(stderr, "usage: %s [calls of both ranks [us of work per 1000 rounds]]\n",
			argv[0]);
		return 2;
	}
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	work_pin(rank);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank < 2)
		play(rank, calls / 4, work_ns);
	MPI_Finalize();
	return 0;
}
