// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 works and sends; the other one receives, and works a little in a team, whose second
// thread is idle meanwhile.
// usage: idle_workers ROUNDS MS
#include <mpi.h>
#include <omp.h>
#include <stdlib.h>

#include "tests/apps/work.h"

#define TEAM_NS 100000

static __attribute__((noinline)) void assemble(int64_t work_ns)
{
	work_for_ns(work_ns);
}

static __attribute__((noinline)) void smooth(void)
{
#pragma omp parallel num_threads(2)
	work_for_ns(TEAM_NS);
}

int main(int argc, char **argv)
{
	const long rounds = argc == 3 ? strtol(argv[1], NULL, 10) : 0;
	const int64_t work_ns = argc == 3 ? strtol(argv[2], NULL, 10) * 1000000 : 0;
	int rank, is_more = 1;

	if (rounds < 1)
		return 2;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (long i = 0; i < rounds; i++) {
		if (rank == 0) {
			assemble(work_ns);
			MPI_Send(&is_more, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
		} else if (rank == 1) {
			MPI_Recv(&is_more, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			smooth();
		}
	}
	MPI_Finalize();
	return 0;
}
