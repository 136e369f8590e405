// SPDX-License-Identifier: BSD-3-Clause
// Part of details: communicators made in every way, and calls on them.
#include "tests/shim/details/details.h"

static int in[16], out[16];

static void barrier(const struct known_comm *on)
{
	MPI_Barrier(on->comm);
	expect_together("Barrier", on->number);
}

static void release(struct known_comm *on)
{
	MPI_Comm_free(&on->comm);
	expect("comm %d freed", on->number);
}

static void split(const struct known_comm *world)
{
	struct known_comm half, reversed, again;

	MPI_Comm_split(world->comm, rank == 2, 0, &half.comm);
	half = know(half.comm, rank == 2 ? "half2" : "half01", 0, world->number);
	expect_together("Comm_split", world->number);
	barrier(&half);
	barrier(&half);
	release(&half);
	MPI_Comm_split(world->comm, rank == 2, 0, &again.comm); /* may get the same handle */
	again = know(again.comm, rank == 2 ? "again2" : "again01", 0, world->number);
	expect_together("Comm_split", world->number);
	barrier(&again);
	release(&again);
	MPI_Comm_split(world->comm, 0, -rank, &reversed.comm);
	reversed = know(reversed.comm, "reversed", 0, world->number);
	expect_together("Comm_split", world->number);
	MPI_Bcast(in, 1, MPI_INT, 0, reversed.comm); /* rank 2 of the world */
	expect("Bcast COLL %d 0 %d %d +%d", reversed.number, next_sequence(reversed.number),
	       rank == 2 ? 4 : 0, rank == 2 ? 0 : 4);
	release(&reversed);
	MPI_Comm_split(world->comm, rank == 0 ? MPI_UNDEFINED : 0, 0, &half.comm);
	if (rank != 0)
		half = know(half.comm, "not0", 0, world->number);
	expect_together("Comm_split", world->number);
	if (rank != 0)
		release(&half);
}

static void select_members(const struct known_comm *world)
{
	const int ranks[2] = { 0, 2 };
	struct known_comm some, more, idle, node;
	MPI_Group all, group;
	MPI_Request request;
	const char *name;

	MPI_Comm_group(world->comm, &all);
	MPI_Group_incl(all, 2, ranks, &group);
	MPI_Comm_create(world->comm, group, &some.comm);
	if (rank != 1)
		some = know(some.comm, "some", 0, world->number);
	expect_together("Comm_create", world->number);
	if (rank != 1) {
		MPI_Comm_create_group(world->comm, group, 4, &more.comm);
		more = know(more.comm, "more", 0, world->number);
		barrier(&more);
		barrier(&some);
		release(&more);
		release(&some);
	}
	MPI_Group_free(&group);
	MPI_Group_free(&all);
	MPI_Comm_idup(world->comm, &idle.comm, &request);
	name = next_request();
	MPI_Wait(&request, STATUS);
	idle = know(idle.comm, "idle", 0, world->number);
	expect("Comm_idup ISEND 0 -2 0 0 %s", name); /* it moves nothing */
	expect("Wait DONE null %s", name);
	barrier(&idle);
	release(&idle);
	MPI_Comm_split_type(world->comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node.comm);
	node = know(node.comm, "node", 0, world->number);
	expect_together("Comm_split_type", world->number);
	release(&node);
}

static void arrange(const struct known_comm *world)
{
	const int dims[1] = { 3 }, is_periodic[1] = { 1 }, weight = 1;
	struct known_comm ring, graph;

	MPI_Cart_create(world->comm, 1, dims, is_periodic, 0, &ring.comm);
	ring = know(ring.comm, "ring", 0, world->number);
	expect_together("Cart_create", world->number);
	MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring.comm);
	expect("Neighbor_alltoall COLL %d -1 %d 8 +8", ring.number, next_sequence(ring.number));
	MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, ring.comm);
	expect("Neighbor_allgather COLL %d -1 %d 4 +8", ring.number, next_sequence(ring.number));
	release(&ring);
	MPI_Dist_graph_create_adjacent(world->comm, 1, &left, &weight, 1, &right, &weight,
				       MPI_INFO_NULL, 0, &graph.comm);
	graph = know(graph.comm, "graph", 0, world->number);
	expect_together("Dist_graph_create_adjacent", world->number);
	MPI_Neighbor_allgather(out, 2, MPI_INT, in, 2, MPI_INT, graph.comm);
	expect("Neighbor_allgather COLL %d -1 %d 8 +8", graph.number, next_sequence(graph.number));
	release(&graph);
}

static void across(const struct known_comm *inter)
{
	const int others = rank == 2 ? 2 : 1;
	const int root = rank == 0 ? MPI_ROOT : rank == 1 ? MPI_PROC_NULL : 0;

	MPI_Bcast(in, 1, MPI_INT, root, inter->comm);
	expect("Bcast COLL %d %d %d %d +%d", inter->number,
	       rank == 2   ? 0
	       : rank == 0 ? -3
			   : -2,
	       next_sequence(inter->number), rank == 0 ? 4 : 0, rank == 2 ? 4 : 0);
	MPI_Allgather(out, 1, MPI_INT, in, 1, MPI_INT, inter->comm);
	expect("Allgather COLL %d -1 %d 4 +%d", inter->number, next_sequence(inter->number),
	       4 * others);
	if (rank == 1) {
		MPI_Send(out, 1, MPI_INT, 0, 60, inter->comm);
		expect("Send SEND %d 0 60 4 -", inter->number);
	} else if (rank == 2) {
		MPI_Recv(in, 1, MPI_INT, MPI_ANY_SOURCE, 60, inter->comm, STATUS);
		expect("Recv RECV %d 1 60 4 -", inter->number);
	}
}

static void connect_groups(const struct known_comm *world)
{
	struct known_comm half, inter, merged;

	MPI_Comm_split(world->comm, rank == 2, 0, &half.comm);
	half = know(half.comm, rank == 2 ? "side2" : "side01", 0, world->number);
	expect_together("Comm_split", world->number);
	MPI_Intercomm_create(half.comm, 0, world->comm, rank == 2 ? 0 : 2, 9, &inter.comm);
	inter = know(inter.comm, "inter", FLAG_INTER, half.number);
	across(&inter);
	MPI_Intercomm_merge(inter.comm, rank == 2, &merged.comm);
	merged = know(merged.comm, "merged", 0, inter.number);
	expect_together("Intercomm_merge", inter.number);
	barrier(&merged);
	release(&merged);
	MPI_Comm_disconnect(&inter.comm);
	expect("comm %d freed", inter.number);
	release(&half);
}

void details_groups(const struct known_comm *world)
{
	split(world);
	select_members(world);
	arrange(world);
	connect_groups(world);
}
