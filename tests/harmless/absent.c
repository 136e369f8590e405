// SPDX-License-Identifier: BSD-3-Clause
// Ranks some of which lack the library: requests of collectives and new communicators of the world,
// and whatever message comes first, must be the application's own.
//
// usage: absent RANK      which lacks it; prints what must not depend on a shim
#include <mpi.h>
#include <stdio.h>

#define ROUNDS 5

static int rank, size;

/* Requests of collectives of the world, in an order all ranks share. */
static void sum_up(int round)
{
	int mine[2] = { rank + 1, round }, sum[2] = { 0 }, told = rank ? -1 : 100 + round;
	MPI_Status statuses[3];
	MPI_Request requests[3];

	MPI_Iallreduce(mine, sum, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
	MPI_Ibcast(&told, 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[1]);
	MPI_Ibarrier(MPI_COMM_WORLD, &requests[2]);
	MPI_Waitall(3, requests, statuses);
	printf("rank %d round %d: sums %d %d, told %d\n", rank, round, sum[0], sum[1], told);
}

static void split(int round)
{
	MPI_Comm copy, half, later;
	MPI_Request request;
	int sum = 0, one = 1;

	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	MPI_Comm_split(copy, rank % 2, rank, &half);
	MPI_Comm_idup(MPI_COMM_WORLD, &later, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, half);
	printf("rank %d round %d: %d in its half\n", rank, round, sum);
	MPI_Comm_free(&later);
	MPI_Comm_free(&half);
	MPI_Comm_free(&copy);
}

/* The first rank takes what comes. */
static void take_any(void)
{
	int value = 10 * rank, sum = 0, count, bytes = 0;
	MPI_Status status;

	for (int i = 1; rank == 0 && i < size; i++) {
		MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
		MPI_Get_count(&status, MPI_INT, &count);
		bytes += count * (int)sizeof(value);
		sum += value + status.MPI_TAG;
	}
	if (rank)
		MPI_Send(&value, 1, MPI_INT, 0, rank, MPI_COMM_WORLD);
	else
		printf("taken %d bytes, %d\n", bytes, sum);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (int round = 0; round < ROUNDS; round++) {
		sum_up(round);
		split(round);
	}
	if (argc > 1 && argv[1][0] != '0')
		take_any();
	MPI_Finalize();
	return 0;
}
