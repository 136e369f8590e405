// SPDX-License-Identifier: BSD-3-Clause
// Two ranks that meet once more through a port, as strangers do.
//
// usage: port      two ranks; prints lines that must not depend on a shim
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	char port[MPI_MAX_PORT_NAME] = "";
	int rank, size = 0, answer = -1;
	MPI_Comm between;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (rank == 0)
		MPI_Open_port(MPI_INFO_NULL, port);
	MPI_Bcast(port, sizeof(port), MPI_CHAR, 0, MPI_COMM_WORLD);
	if (rank == 0)
		MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &between);
	else
		MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &between);
	MPI_Comm_remote_size(between, &size);
	MPI_Sendrecv(&rank, 1, MPI_INT, 0, 1, &answer, 1, MPI_INT, 0, 1, between,
		     MPI_STATUS_IGNORE);
	printf("%d: remote size %d, answer %d\n", rank, size, answer);
	MPI_Comm_disconnect(&between);
	if (rank == 0)
		MPI_Close_port(port);
	MPI_Finalize();
	return 0;
}
