// SPDX-License-Identifier: BSD-3-Clause
// An MPI program in a shared object, for plugin_host: MPI comes by dlopen, RTLD_LOCAL.
#include <mpi.h>
#include <stddef.h>

int plugin_run(void);

int plugin_run(void)
{
	int rank, sum = 0;

	MPI_Init(NULL, NULL);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	MPI_Finalize();
	return sum;
}
