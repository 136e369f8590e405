// SPDX-License-Identifier: BSD-3-Clause
// Ranks that hand rounds of work on: the first works FIRST ms and sends, each other one receives,
// works OTHER ms and sends on; the last one sends back to the first.
// usage: handover ROUNDS FIRST-MS OTHER-MS
#include <mpi.h>
#include <stdlib.h>

#include "tests/apps/work.h"

static int rank, size;

static __attribute__((noinline)) void assemble(long ms)
{
	work_for_ns(ms * 1000000);
	__asm__ volatile("" ::: "memory");
}

static void receive(void)
{
	int token;

	const int before = (rank + size - 1) % size;

	MPI_Recv(&token, 1, MPI_INT, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send(void)
{
	MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	long rounds, first_ms, other_ms;

	if (argc != 4)
		return 2;
	rounds = strtol(argv[1], NULL, 10);
	first_ms = strtol(argv[2], NULL, 10);
	other_ms = strtol(argv[3], NULL, 10);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	work_pin(rank);
	for (long i = 0; i < rounds; i++) {
		if (rank == 0) {
			assemble(first_ms);
			send();
			receive();
		} else {
			receive();
			assemble(other_ms);
			send();
		}
	}
	MPI_Finalize();
	return 0;
}
