// SPDX-License-Identifier: BSD-3-Clause
// MPI_Pcontrol with and without a name, and as others use it; errno stays as it was.
#include <errno.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	int rc = 0;

	MPI_Init(&argc, &argv);
	errno = E2BIG;
	rc |= MPI_Pcontrol(1, "solve");
	rc |= MPI_Pcontrol(1, "inner  ");
	rc |= MPI_Pcontrol(0, "not a phase");
	rc |= MPI_Pcontrol(2, "nor this");
	rc |= MPI_Pcontrol(1, (char *)0);
	rc |= MPI_Pcontrol(1, (char *)16);
	rc |= MPI_Pcontrol(1, "\001\002");
	rc |= errno != E2BIG;
	MPI_Barrier(MPI_COMM_WORLD);
	rc |= MPI_Pcontrol(-1, "inner");
	rc |= MPI_Pcontrol(-1, "solve");
	rc |= MPI_Pcontrol(-1, "once too often");
	printf("status %d\n", rc);
	MPI_Finalize();
	return 0;
}
