// SPDX-License-Identifier: BSD-3-Clause
// Ranks that only exchange data with their neighbour: time belongs to communication, to no rank.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 2.0;
	int bytes = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 1 << 22;
	int rank, size, partner, goes_on = 1;
	char *out, *in;
	double end;

	if (seconds <= 0 || bytes <= 0) {
		fprintf(stderr, "usage: %s [seconds [bytes]]\n", argv[0]);
		return 2;
	}
	out = calloc(1, (size_t)bytes);
	in = calloc(1, (size_t)bytes);
	if (!out || !in)
		return 1;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	partner = (rank ^ 1) < size ? rank ^ 1 : rank;
	end = MPI_Wtime() + seconds;
	while (goes_on) {
		for (int i = 0; i < 20; i++)
			MPI_Sendrecv(out, bytes, MPI_BYTE, partner, 1, in, bytes, MPI_BYTE, partner,
				     1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		goes_on = MPI_Wtime() < end;
		MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	free(out);
	free(in);
	return 0;
}
