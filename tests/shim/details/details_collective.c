// SPDX-License-Identifier: BSD-3-Clause
// Part of details: every collective, with what each rank sends and receives.
#include "tests/shim/details/details.h"

static int in[32], out[32];

static void expect_collective(const char *call, int comm, int root, int sent, int received)
{
	expect("%s COLL %d %d %d %d +%d", call, comm, root, next_sequence(comm), sent, received);
}

static void rooted(const struct known_comm *on)
{
	const int counts[3] = { 1, 2, 3 }, places[3] = { 0, 1, 3 };

	MPI_Bcast(in, 2, MPI_INT, 1, on->comm);
	expect_collective("Bcast", on->number, 1, rank == 1 ? 8 : 0, rank == 1 ? 0 : 8);
	MPI_Reduce(out, in, 2, MPI_INT, MPI_SUM, 0, on->comm);
	expect_collective("Reduce", on->number, 0, 8, rank == 0 ? 8 : 0);
	if (rank == 2)
		MPI_Gather(MPI_IN_PLACE, -7, MPI_DATATYPE_NULL, in, 1, MPI_INT, 2, on->comm);
	else /* what only the root needs may be anything */
		MPI_Gather(out, 1, MPI_INT, NULL, -7, MPI_DATATYPE_NULL, 2, on->comm);
	expect_collective("Gather", on->number, 2, 4, rank == 2 ? 12 : 0);
	MPI_Gatherv(out, rank + 1, MPI_INT, in, rank == 0 ? counts : NULL, places, MPI_INT, 0,
		    on->comm);
	expect_collective("Gatherv", on->number, 0, 4 * (rank + 1), rank == 0 ? 24 : 0);
	if (rank == 1)
		MPI_Scatter(out, 2, MPI_INT, MPI_IN_PLACE, -7, MPI_DATATYPE_NULL, 1, on->comm);
	else
		MPI_Scatter(NULL, -7, MPI_DATATYPE_NULL, in, 2, MPI_INT, 1, on->comm);
	expect_collective("Scatter", on->number, 1, rank == 1 ? 24 : 0, 8);
	MPI_Scatterv(out, rank == 2 ? counts : NULL, places, MPI_INT, in, rank + 1, MPI_INT, 2,
		     on->comm);
	expect_collective("Scatterv", on->number, 2, rank == 2 ? 24 : 0, 4 * (rank + 1));
}

static void all_to_all(const struct known_comm *on)
{
	const int counts[3] = { 1, 2, 3 }, places[3] = { 0, 1, 3 }, bytes[3] = { 0, 32, 64 };
	const int own[3] = { rank + 1, rank + 1, rank + 1 }, spread[3] = { 0, 4, 8 };
	const MPI_Datatype types[3] = { MPI_INT, MPI_INT, MPI_INT };

	MPI_Barrier(on->comm);
	expect_collective("Barrier", on->number, -1, 0, 0);
	MPI_Allgather(out, 2, MPI_INT, in, 2, MPI_INT, on->comm);
	expect_collective("Allgather", on->number, -1, 8, 24);
	MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 2, MPI_INT, on->comm);
	expect_collective("Allgather", on->number, -1, 8, 24);
	MPI_Allgatherv(out, rank + 1, MPI_INT, in, counts, places, MPI_INT, on->comm);
	expect_collective("Allgatherv", on->number, -1, 4 * (rank + 1), 24);
	MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, on->comm);
	expect_collective("Alltoall", on->number, -1, 12, 12);
	MPI_Alltoallv(out, counts, places, MPI_INT, in, own, spread, MPI_INT, on->comm);
	expect_collective("Alltoallv", on->number, -1, 24, 12 * (rank + 1));
	MPI_Alltoallw(out, counts, bytes, types, in, own, bytes, types, on->comm);
	expect_collective("Alltoallw", on->number, -1, 24, 12 * (rank + 1));
}

static void reduced(const struct known_comm *on)
{
	const int counts[3] = { 1, 2, 3 };

	MPI_Allreduce(out, in, 2, MPI_DOUBLE, MPI_SUM, on->comm);
	expect_collective("Allreduce", on->number, -1, 16, 16);
	MPI_Allreduce(MPI_IN_PLACE, in, 2, MPI_INT, MPI_SUM, on->comm);
	expect_collective("Allreduce", on->number, -1, 8, 8);
	MPI_Scan(out, in, 3, MPI_INT, MPI_SUM, on->comm);
	expect_collective("Scan", on->number, -1, 12, 12);
	MPI_Exscan(out, in, 3, MPI_INT, MPI_SUM, on->comm);
	expect_collective("Exscan", on->number, -1, 12, 12);
	MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, on->comm);
	expect_collective("Reduce_scatter", on->number, -1, 24, 4 * (rank + 1));
	MPI_Reduce_scatter_block(out, in, 2, MPI_INT, MPI_SUM, on->comm);
	expect_collective("Reduce_scatter_block", on->number, -1, 24, 8);
}

static void started(const struct known_comm *on)
{
	MPI_Request requests[2];
	const char *names[2];

	MPI_Ibcast(in, 3, MPI_INT, 0, on->comm, &requests[0]);
	names[0] = next_request();
	expect("Ibcast ICOLL %d 0 %d %d %s", on->number, next_sequence(on->number),
	       rank == 0 ? 12 : 0, names[0]);
	expect("Ibcast RECEIVED %d", rank == 0 ? 0 : 12);
	MPI_Ibarrier(on->comm, &requests[1]);
	names[1] = next_request();
	expect("Ibarrier ICOLL %d -1 %d 0 %s", on->number, next_sequence(on->number), names[1]);
	expect("Ibarrier RECEIVED 0");
	MPI_Waitall(2, requests, STATUSES);
	expect("Waitall DONE coll %s", names[0]);
	expect("Waitall DONE coll %s", names[1]);
#if MPI_VERSION >= 4
	MPI_Allreduce_init(out, in, 2, MPI_INT, MPI_SUM, on->comm, MPI_INFO_NULL, &requests[0]);
	names[0] = next_request();
	expect("Allreduce_init COLL_INIT %d -1 -1 8 %s", on->number, names[0]);
	expect("Allreduce_init RECEIVED 8");
	MPI_Start(&requests[0]);
	expect("Start START %s", names[0]);
	MPI_Wait(&requests[0], STATUS);
	expect("Wait DONE coll %s", names[0]);
	MPI_Request_free(&requests[0]);
	expect("Request_free FREED %s", names[0]);
	MPI_Allreduce_c(out, in, 2, MPI_INT, MPI_SUM, on->comm);
	expect_collective("Allreduce_c", on->number, -1, 8, 8);
#endif
}

void details_collective(const struct known_comm *world, const struct known_comm *self)
{
	rooted(world);
	all_to_all(world);
	reduced(world);
	started(world);
	MPI_Allreduce(out, in, 1, MPI_INT, MPI_SUM, self->comm);
	expect("Allreduce COLL %d -1 %d 4 +4", self->number, next_sequence(self->number));
	MPI_Bcast(in, 1, MPI_INT, 0, world->comm);
	expect_collective("Bcast", world->number, 0, rank == 0 ? 4 : 0, rank == 0 ? 0 : 4);
}
