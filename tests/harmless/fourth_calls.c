// SPDX-License-Identifier: BSD-3-Clause
// What MPI-4.0 added: large counts, partitioned and persistent communication, sessions beside a
// world.
//
// usage: fourth_calls [OUTPUT]      two ranks; with OUTPUT they write to OUTPUT.0 and OUTPUT.1
#include "tests/shim/counted.h"

#define PARTS 4

static MPI_Status statuses[4]; /* compilers take MPI_STATUSES_IGNORE for an array of size 0 */

static void count_largely(void)
{
	int out[2] = { 1 + rank, 5 + rank }, in[8] = { 0 };
	const MPI_Count ones[2] = { 1, 1 };
	const MPI_Aint places[2] = { 0, 1 };
	MPI_Count elements, bytes;
	MPI_Request requests[2];
	MPI_Datatype pair;
	MPI_Status status;

	if (rank == 0)
		C(Send_c, out, 2, MPI_INT, peer, 1, MPI_COMM_WORLD);
	else
		C(Recv_c, in, 2, MPI_INT, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	C(Irecv_c, in + 2, 2, MPI_INT, peer, 2, MPI_COMM_WORLD, &requests[0]);
	C(Isend_c, out, 2, MPI_INT, peer, 2, MPI_COMM_WORLD, &requests[1]);
	C(Wait, &requests[0], &status);
	C(Wait, &requests[1], MPI_STATUS_IGNORE);
	C(Get_count_c, &status, MPI_INT, &elements);
	C(Allreduce_c, out, in + 4, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	C(Bcast_c, in + 5, 1, MPI_INT, 0, MPI_COMM_WORLD);
	C(Allgatherv_c, out, 1, MPI_INT, in + 6, ones, places, MPI_INT, MPI_COMM_WORLD);
	C(Type_contiguous_c, 2, MPI_INT, &pair);
	C(Type_size_c, pair, &bytes);
	C(Type_free, &pair);
	in[5] = (int)(elements * 100 + bytes);
	say("large", in, 8);
}

static void part(void)
{
	int out[PARTS], in[PARTS] = { 0 };
	MPI_Request requests[2];

	for (int i = 0; i < PARTS; i++)
		out[i] = 10 * rank + i;
	C(Psend_init, out, PARTS, 1, MPI_INT, peer, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
	C(Precv_init, in, PARTS, 1, MPI_INT, peer, 3, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
	C(Startall, 2, requests);
	C(Pready, 0, requests[0]);
	C(Pready_range, 1, PARTS - 1, requests[0]);
	for (int flag = 0; !flag;)
		C(Parrived, requests[1], PARTS - 1, &flag);
	C(Waitall, 2, requests, statuses);
	C(Request_free, &requests[0]);
	C(Request_free, &requests[1]);
	say("parts", in, PARTS);
}

static void persist(void)
{
	int out = 1 + rank, in[4] = { 0 };
	MPI_Request requests[3];

	C(Allreduce_init, &out, &in[0], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
	  &requests[0]);
	C(Allgather_init, &out, 1, MPI_INT, &in[1], 1, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL,
	  &requests[1]);
	C(Barrier_init, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[2]);
	for (int i = 0; i < 3; i++) {
		out += i;
		C(Startall, 3, requests);
		C(Waitall, 3, requests, statuses);
		say("persistent", in, 3);
	}
	for (int i = 0; i < 3; i++)
		C(Request_free, &requests[i]);
	C(Isendrecv, &out, 1, MPI_INT, peer, 4, &in[3], 1, MPI_INT, peer, 4, MPI_COMM_WORLD,
	  &requests[0]);
	C(Wait, &requests[0], MPI_STATUS_IGNORE);
	say("exchanged", &in[3], 1);
}

static void open_session(void)
{
	int one = 1, sum = 0;
	MPI_Session session;
	MPI_Group group;
	MPI_Comm comm;

	C(Session_init, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
	C(Group_from_session_pset, session, "mpi://WORLD", &group);
	C(Comm_create_from_group, group, "crit", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
	C(Allreduce, &one, &sum, 1, MPI_INT, MPI_SUM, comm);
	C(Comm_free, &comm);
	C(Group_free, &group);
	C(Session_finalize, &session);
	say("session", &sum, 1);
}

int main(int argc, char **argv)
{
	C(Init, &argc, &argv);
	if (open_pair(argc > 1 ? argv[1] : NULL) < 0)
		return 1;
	count_largely();
	part();
	persist();
	open_session();
	C(Finalize);
	say_counts();
	return 0;
}
