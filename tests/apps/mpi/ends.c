// SPDX-License-Identifier: BSD-3-Clause
// A run that ends in a chosen way: finalized, by exit, by abort, by an error in a call, or never,
// to be killed, also out of a deadlock.
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/apps/work.h"

#define FOREVER_S 120.0
#define EXIT_STATUS 7
#define ABORT_STATUS 5

/* Leaves DIRECTORY/RANK.pid for whoever wants to kill this rank. */
static void leave_pid(const char *directory, int rank)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%d.pid", directory, rank);
	f = fopen(path, "w");
	if (!f)
		return;
	fprintf(f, "%d\n", (int)getpid());
	fclose(f);
}

/* Rank 0 works three times as much as the others; all end together. */
static void work_together(int rank, double seconds)
{
	double end = MPI_Wtime() + seconds;
	int goes_on = 1;

	while (goes_on) {
		work_for_ns((rank == 0 ? 15 : 5) * 1000000);
		goes_on = MPI_Wtime() < end;
		MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
		MPI_Barrier(MPI_COMM_WORLD);
	}
}

/* Rank 1 polls for a message nobody sends; the others work. */
static void sit_in_test_loop(int rank)
{
	double end = MPI_Wtime() + FOREVER_S;
	MPI_Request request;
	int is_done = 0;

	if (rank != 1) {
		while (MPI_Wtime() < end)
			work_for_ns(10000000);
		return;
	}
	MPI_Irecv(NULL, 0, MPI_BYTE, 0, 99, MPI_COMM_WORLD, &request);
	while (!is_done)
		MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
}

/* What the program is for: the sum of all ranks, each plus one. */
static void print_result(int rank)
{
	int own = rank + 1;
	int sum = 0;

	MPI_Reduce(&own, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0) {
		printf("result %d\n", sum);
		fflush(stdout);
	}
}

/* The rank in the middle is gone without a word, the others part as if it were there. */
static void vanish(int rank)
{
	int size;

	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (rank == size / 2)
		_exit(EXIT_STATUS);
}

/* Rank 1 sends to a rank that is not there, while the others wait for it. */
static void fail(int rank)
{
	if (rank == 1)
		MPI_Send(&rank, 1, MPI_INT, -77, 0, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
}

/* Rank 0 waits for the last one, which waits for rank 0 with all others; rank 1 polls for that. */
static void lock_up(int rank)
{
	int size, word, is_done = 0;
	MPI_Request request;

	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (rank == 0)
		MPI_Recv(&word, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (rank != 1)
		MPI_Barrier(MPI_COMM_WORLD);
	MPI_Ibarrier(MPI_COMM_WORLD, &request);
	while (!is_done)
		MPI_Test(&request, &is_done, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	double seconds = argc > 2 ? strtod(argv[2], NULL) : 1.0;
	int rank;

	if (argc < 2) {
		fprintf(stderr,
			"usage: %s normal|exit|abort|error|segv|vanish|forever|test-loop|"
			"deadlock [s [pid-dir]]\n",
			argv[0]);
		return 2;
	}
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (argc > 3)
		leave_pid(argv[3], rank);
	work_together(rank, strcmp(how, "forever") == 0 ? FOREVER_S : seconds);
	print_result(rank);
	if (strcmp(how, "exit") == 0)
		exit(EXIT_STATUS);
	if (strcmp(how, "abort") == 0 && rank == 0)
		MPI_Abort(MPI_COMM_WORLD, ABORT_STATUS);
	if (strcmp(how, "error") == 0)
		fail(rank);
	if (strcmp(how, "segv") == 0 && rank == 1)
		raise(SIGSEGV);
	if (strcmp(how, "vanish") == 0)
		vanish(rank);
	if (strcmp(how, "test-loop") == 0)
		sit_in_test_loop(rank);
	if (strcmp(how, "deadlock") == 0)
		lock_up(rank);
	MPI_Finalize();
	return 0;
}
