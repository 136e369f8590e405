// SPDX-License-Identifier: BSD-3-Clause
// Communicators with names: a short one, one of three parts, one that is given again.
#include <mpi.h>
#include <stddef.h>

static void use(MPI_Comm parent, const char *name, const char *later)
{
	MPI_Comm comm;

	MPI_Comm_dup(parent, &comm);
	MPI_Comm_set_name(comm, name);
	MPI_Barrier(comm);
	if (later)
		MPI_Comm_set_name(comm, later);
	MPI_Barrier(comm);
	MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	use(MPI_COMM_WORLD, "ocean", NULL);
	use(MPI_COMM_WORLD, "a name that is longer than one part of a name has room", NULL);
	use(MPI_COMM_WORLD, "before", "after");
	MPI_Finalize();
	return 0;
}
