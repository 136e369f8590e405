// SPDX-License-Identifier: BSD-3-Clause
// Receives whose status tells little: exchanges by request, and messages too long for their buffer.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define LONG 60
#define SHORT 8

static int rank, size, right, left;
static char out[LONG], in[LONG];

/* To the right, from the left: six of them, two of which take what comes from anywhere. */
static void exchange(void)
{
#if MPI_VERSION >= 4
	const int sources[] = { left, left, MPI_ANY_SOURCE, MPI_ANY_SOURCE };
	const int tags[] = { 7, 0, 7, MPI_ANY_TAG };
	MPI_Request requests[2];
	MPI_Status status, statuses[2];

	for (int i = 0; i < 4; i++) {
		MPI_Isendrecv(out, 40, MPI_BYTE, right, i == 1 ? 0 : 7, in, LONG, MPI_BYTE,
			      sources[i], tags[i], MPI_COMM_WORLD, &requests[0]);
		MPI_Wait(&requests[0], &status);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	for (int i = 0; i < 2; i++)
		MPI_Isendrecv_replace(in, 40, MPI_BYTE, right, 8, left, 8, MPI_COMM_WORLD,
				      &requests[i]);
	MPI_Waitall(2, requests, statuses);
#endif
}

/* The k-th message is taken by the k-th of these; all but the last are too long. */
static void take(void)
{
	MPI_Request requests[2];
	MPI_Status statuses[2];
	int index, flag = 0;

	MPI_Recv(in, SHORT, MPI_BYTE, left, 1, MPI_COMM_WORLD, &statuses[0]);
	MPI_Recv(in, SHORT, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Irecv(in, SHORT, MPI_BYTE, left, 1, MPI_COMM_WORLD, &requests[0]);
	MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
	MPI_Irecv(in, SHORT, MPI_BYTE, left, 1, MPI_COMM_WORLD, &requests[0]);
	while (!flag && requests[0] != MPI_REQUEST_NULL)
		MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
	requests[0] = MPI_REQUEST_NULL;
	MPI_Irecv(in, SHORT, MPI_BYTE, left, 1, MPI_COMM_WORLD, &requests[1]);
	MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
	MPI_Recv_init(in, SHORT, MPI_BYTE, left, 1, MPI_COMM_WORLD, &requests[0]);
	MPI_Start(&requests[0]);
	MPI_Wait(&requests[0], &statuses[0]);
	MPI_Request_free(&requests[0]);
	for (int i = 0; i < 2; i++)
		MPI_Irecv(in, i ? LONG : SHORT, MPI_BYTE, left, 1, MPI_COMM_WORLD, &requests[i]);
	while (MPI_Waitall(2, requests, statuses) != MPI_SUCCESS) /* some may be pending still */
		if (requests[1] == MPI_REQUEST_NULL)
			break;
}

#define TAKEN 8 /* messages that take() takes */

static void fail(void)
{
	int bytes = rank == 0 ? LONG : SHORT;

	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	if (rank == 0)
		for (int i = 0; i < TAKEN; i++)
			MPI_Send(out, LONG, MPI_BYTE, right, 1, MPI_COMM_WORLD);
	else if (rank == 1)
		take();
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Sendrecv(out, LONG, MPI_BYTE, right, 2, in, SHORT, MPI_BYTE, left, 2, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	MPI_Send(out, 1, MPI_BYTE, size, 3, MPI_COMM_WORLD); /* to nobody: no message */
	MPI_Bcast(in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD); /* others have no room for it */
	MPI_Bcast(out, bytes, MPI_BYTE, size, MPI_COMM_WORLD); /* from nobody: no broadcast */
	for (int i = 0; i < 3; i++)
		MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: statuses exchange | fail\n");
		return 2;
	}
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	right = (rank + 1) % size;
	left = (rank + size - 1) % size;
	if (strcmp(argv[1], "exchange") == 0)
		exchange();
	else
		fail();
	MPI_Finalize();
	return 0;
}
