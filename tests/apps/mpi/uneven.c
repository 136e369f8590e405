// SPDX-License-Identifier: BSD-3-Clause
// Ranks that exchange with both neighbours after each step of work; rank 1 has three times as much.
//
// Each prints "own RANK CALLS MPI": its calls of Isend, Irecv, Waitall and Barrier, and the seconds
// it spent in them, by its own clock.  The work makes no system call.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#pragma GCC diagnostic ignored "-Wstringop-overflow" /* MPICH's STATUSES_IGNORE is 1 */

#define DOUBLES 1024
#define SPINS_PER_STEP 1000000L
#define HEAVY 1

static volatile double sink;

static double now_s(void)
{
	struct timespec time;

	(void)clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void work(long spins)
{
	for (long i = 0; i < spins; i++)
		sink += (double)i;
}

static void exchange(int before, int after)
{
	static double out[2][DOUBLES], in[2][DOUBLES];
	MPI_Request requests[4];

	MPI_Irecv(in[0], DOUBLES, MPI_DOUBLE, before, 0, MPI_COMM_WORLD, &requests[0]);
	MPI_Irecv(in[1], DOUBLES, MPI_DOUBLE, after, 1, MPI_COMM_WORLD, &requests[1]);
	MPI_Isend(out[0], DOUBLES, MPI_DOUBLE, after, 0, MPI_COMM_WORLD, &requests[2]);
	MPI_Isend(out[1], DOUBLES, MPI_DOUBLE, before, 1, MPI_COMM_WORLD, &requests[3]);
	MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
	const int steps = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 50;
	double mpi_s = 0, since_s;
	int rank, size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int step = 0; step < steps; step++) {
		work(SPINS_PER_STEP * (rank == HEAVY ? 3 : 1));
		since_s = now_s();
		exchange((rank + size - 1) % size, (rank + 1) % size);
		mpi_s += now_s() - since_s;
	}
	since_s = now_s();
	MPI_Barrier(MPI_COMM_WORLD);
	mpi_s += now_s() - since_s;
	printf("own %d %d %.6f\n", rank, 5 * steps + 1, mpi_s);
	MPI_Finalize();
	return 0;
}
