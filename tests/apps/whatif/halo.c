// SPDX-License-Identifier: BSD-3-Clause
// A stencil: ranks in a ring fill their boundary, send it to both neighbours, and work in their
// interior before they wait for those of the neighbours.  Rank 0 takes A and B ms, others C and D.
// usage: halo STEPS A B C D
#include <mpi.h>
#include <stdlib.h>

#include "tests/apps/work.h"

#pragma GCC diagnostic ignored "-Wstringop-overflow" /* MPICH's STATUSES_IGNORE is 1 */

static __attribute__((noinline)) void boundary(double ms)
{
	WORK_HERE(ms);
}

/* Not the same code, or the compiler makes it one function. */
static __attribute__((noinline)) void interior(double ms)
{
	WORK_HERE(ms + 0.001);
}

static void step(int rank, int size, double boundary_ms, double interior_ms)
{
	const int before = (rank + size - 1) % size, after = (rank + 1) % size;
	MPI_Request requests[4];
	int in[2];

	boundary(boundary_ms);
	MPI_Irecv(&in[0], 1, MPI_INT, before, 0, MPI_COMM_WORLD, &requests[0]);
	MPI_Irecv(&in[1], 1, MPI_INT, after, 1, MPI_COMM_WORLD, &requests[1]);
	MPI_Isend(&rank, 1, MPI_INT, after, 0, MPI_COMM_WORLD, &requests[2]);
	MPI_Isend(&rank, 1, MPI_INT, before, 1, MPI_COMM_WORLD, &requests[3]);
	interior(interior_ms);
	MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
	int rank, size, at;

	if (argc != 6)
		return 2;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	work_pin(rank);
	at = rank ? 4 : 2;
	MPI_Barrier(MPI_COMM_WORLD);
	for (long i = strtol(argv[1], NULL, 10); i; i--)
		step(rank, size, strtod(argv[at], NULL), strtod(argv[at + 1], NULL));
	MPI_Finalize();
	return 0;
}
