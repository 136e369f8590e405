// SPDX-License-Identifier: BSD-3-Clause
// Rank 1 asks for what rank 0 sends, 25 times; both sleep before.
// usage: askers MS-OF-RANK-0 MS-OF-RANK-1 probe|mprobe|iprobe|improbe|test|testall
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

static void receive(const char *way)
{
	int is_there = 0, value;
	MPI_Message message;
	MPI_Request request;
	MPI_Status status;

	if (!strncmp(way, "test", 4)) {
		MPI_Irecv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request);
		while (!is_there && !strcmp(way, "test"))
			MPI_Test(&request, &is_there, MPI_STATUS_IGNORE);
		while (!is_there)
			MPI_Testall(1, &request, &is_there, &status);
		return;
	}
	if (!strcmp(way, "probe"))
		MPI_Probe(0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (!strcmp(way, "mprobe"))
		MPI_Mprobe(0, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
	while (!is_there && !strcmp(way, "iprobe"))
		MPI_Iprobe(0, 1, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE);
	while (!is_there && !strcmp(way, "improbe"))
		MPI_Improbe(0, 1, MPI_COMM_WORLD, &is_there, &message, MPI_STATUS_IGNORE);
	if (strstr(way, "mprobe"))
		MPI_Mrecv(&value, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
	else
		MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
	int rank, value = 1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 25 && argc > 3; i++) {
		sleep_ms(atol(argv[rank ? 2 : 1]));
		if (rank)
			receive(argv[3]);
		else
			MPI_Send(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
