// SPDX-License-Identifier: BSD-3-Clause
// One rank that starts two more, as a world of their own, and works with them.
//
// usage: spawn      one rank; prints lines that must not depend on a shim
#include <mpi.h>
#include <stdio.h>

#define CHILDREN 2

static void work(MPI_Comm between, int is_child)
{
	int rank, size, rank_in_all, sum = 0, value = is_child ? -1 : 42;
	MPI_Comm all;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Bcast(&value, 1, MPI_INT, is_child ? 0 : MPI_ROOT, between);
	MPI_Intercomm_merge(between, is_child, &all);
	MPI_Comm_size(all, &size);
	MPI_Comm_rank(all, &rank_in_all);
	MPI_Allreduce(&rank_in_all, &sum, 1, MPI_INT, MPI_SUM, all);
	printf("%s %d: value %d, %d ranks, sum %d\n", is_child ? "child" : "parent", rank, value,
	       size, sum);
	(void)fflush(stdout);
	MPI_Comm_free(&all);
	MPI_Comm_disconnect(&between);
}

int main(int argc, char **argv)
{
	MPI_Comm between;
	int errors[CHILDREN];

	MPI_Init(&argc, &argv);
	MPI_Comm_get_parent(&between);
	if (between != MPI_COMM_NULL) {
		work(between, 1);
	} else {
		MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, CHILDREN, MPI_INFO_NULL, 0, MPI_COMM_SELF,
			       &between, errors);
		work(between, 0);
	}
	MPI_Finalize();
	return 0;
}
