// SPDX-License-Identifier: BSD-3-Clause
// An MPI program without a world: one session, a communicator from its process set; with an
// argument it has a world as well, which ends before.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	const int has_world = argc > 1;
	MPI_Session session;
	MPI_Group group;
	MPI_Comm comm;
	int one = 1, sum = 0;

	if (has_world)
		MPI_Init(&argc, &argv);
	MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
	MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
	MPI_Comm_create_from_group(group, "crit", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
	MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
	printf("sum %d\n", sum);
	MPI_Comm_free(&comm);
	MPI_Group_free(&group);
	if (has_world)
		MPI_Finalize();
	MPI_Session_finalize(&session);
	return 0;
}
