// SPDX-License-Identifier: BSD-3-Clause
// MPI_Pcontrol with and without a name, and as others use it; errno stays as it was.
#include <errno.h>
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	int status = 0;

	MPI_Init(&argc, &argv);
	errno = E2BIG;
	status |= MPI_Pcontrol(1, "solve");
	status |= MPI_Pcontrol(1, "inner  ");
	status |= MPI_Pcontrol(0, "not a phase");
	status |= MPI_Pcontrol(2, "nor this");
	status |= MPI_Pcontrol(1, (char *)0);
	status |= MPI_Pcontrol(1, (char *)16);
	status |= MPI_Pcontrol(1, "\001\002");
	status |= errno != E2BIG;
	MPI_Barrier(MPI_COMM_WORLD);
	status |= MPI_Pcontrol(-1, "inner");
	status |= MPI_Pcontrol(-1, "solve");
	status |= MPI_Pcontrol(-1, "once too often");
	printf("status %d\n", status);
	MPI_Finalize();
	return 0;
}
