// SPDX-License-Identifier: BSD-3-Clause
// Ranks that assemble, solve, sleep and meet, each step: rank 0 takes A and B ms, the others C and
// D, all sleep E ms; with an F each sends itself a message in between, or with "phases" it says in
// which of both it is.
// usage: two_phases STEPS A B C D [E [F]]
#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/apps/work.h"

static __attribute__((noinline)) void assemble(double ms)
{
	WORK_HERE(ms);
}

/* Not the same code, or the compiler makes it one function. */
static __attribute__((noinline)) void solve(double ms)
{
	WORK_HERE(ms + 0.001);
}

int main(int argc, char **argv)
{
	struct timespec nap = { 0 };
	int rank, at, told = 1, heard;
	bool has_phases;

	if (argc < 6 || argc > 8)
		return 2;
	nap.tv_nsec = argc > 6 ? strtol(argv[6], NULL, 10) * 1000000 : 0;
	has_phases = argc > 7 && strcmp(argv[7], "phases") == 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	at = rank ? 4 : 2;
	for (long i = strtol(argv[1], NULL, 10); i; i--) {
		if (has_phases)
			MPI_Pcontrol(1, "assemble");
		assemble(strtod(argv[at], NULL));
		if (has_phases)
			MPI_Pcontrol(-1, "assemble");
		if (argc == 8 && !has_phases)
			MPI_Sendrecv(&told, 1, MPI_INT, 0, 0, &heard, 1, MPI_INT, 0, 0,
				     MPI_COMM_SELF, MPI_STATUS_IGNORE);
		if (has_phases)
			MPI_Pcontrol(1, "solve");
		solve(strtod(argv[at + 1], NULL));
		if (has_phases)
			MPI_Pcontrol(-1, "solve");
		if (nap.tv_nsec)
			(void)nanosleep(&nap, NULL);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
