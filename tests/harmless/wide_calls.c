// SPDX-License-Identifier: BSD-3-Clause
// The less usual calls of MPI-3.1: windows, files, neighbours, requests of collectives, persistent
// requests, matched probes, intercommunicators.
//
// usage: wide_calls [OUTPUT]      two ranks; with OUTPUT they write to OUTPUT.0 and OUTPUT.1 and
//                                 use OUTPUT.data as a file
#include "tests/shim/counted.h"

static MPI_Status statuses[8]; /* compilers take MPI_STATUSES_IGNORE for an array of size 0 */

static void reach_into_windows(void)
{
	int *memory, here[4] = { 0 }, mine = 7 + rank, zero = 0;
	MPI_Request request;
	MPI_Group world, others;
	MPI_Win window;

	C(Win_allocate, 4 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
	  &window);
	memset(memory, 0, 4 * sizeof(int));
	C(Win_fence, 0, window);
	C(Put, &mine, 1, MPI_INT, peer, 0, 1, MPI_INT, window);
	C(Win_fence, 0, window);
	C(Accumulate, &mine, 1, MPI_INT, peer, 0, 1, MPI_INT, MPI_SUM, window);
	C(Win_fence, 0, window);
	C(Get, &here[0], 1, MPI_INT, peer, 0, 1, MPI_INT, window);
	C(Win_fence, MPI_MODE_NOSUCCEED, window);
	C(Win_lock, MPI_LOCK_EXCLUSIVE, peer, 0, window);
	C(Fetch_and_op, &mine, &here[1], MPI_INT, peer, 1, MPI_SUM, window);
	C(Win_flush, peer, window);
	C(Compare_and_swap, &mine, &zero, &here[2], MPI_INT, peer, 2, window);
	C(Win_unlock, peer, window);
	C(Barrier, MPI_COMM_WORLD);
	C(Win_lock_all, 0, window);
	C(Rput, &mine, 1, MPI_INT, peer, 3, 1, MPI_INT, window, &request);
	C(Wait, &request, MPI_STATUS_IGNORE);
	C(Win_flush_all, window);
	C(Win_unlock_all, window);
	C(Barrier, MPI_COMM_WORLD);
	say("window", memory, 4);
	say("fetched", here, 3);
	C(Comm_group, MPI_COMM_WORLD, &world);
	C(Group_incl, world, 1, &peer, &others);
	C(Win_post, others, 0, window);
	C(Win_start, others, 0, window);
	C(Put, &rank, 1, MPI_INT, peer, 0, 1, MPI_INT, window);
	C(Win_complete, window);
	C(Win_wait, window);
	say("posted", memory, 1);
	C(Group_free, &others);
	C(Group_free, &world);
	C(Win_free, &window);
}

static void use_file(const char *path)
{
	int out[2] = { 1 + rank, 10 + rank }, in[4] = { 0 };
	MPI_Request request;
	MPI_Offset bytes;
	MPI_File file;

	C(File_open, MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
	C(File_set_view, file, rank * (MPI_Offset)sizeof(int), MPI_INT, MPI_INT, "native",
	  MPI_INFO_NULL);
	C(File_write_all, file, &out[0], 1, MPI_INT, MPI_STATUS_IGNORE);
	C(File_set_view, file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
	C(File_write_at_all, file, 2 + rank, &out[1], 1, MPI_INT, MPI_STATUS_IGNORE);
	C(File_sync, file);
	C(Barrier, MPI_COMM_WORLD);
	C(File_read_at, file, 0, &in[0], 2, MPI_INT, MPI_STATUS_IGNORE);
	C(File_iread_at, file, 2, &in[2], 2, MPI_INT, &request);
	C(Wait, &request, MPI_STATUS_IGNORE);
	C(File_get_size, file, &bytes);
	say("file", in, 4);
	in[0] = (int)bytes;
	C(File_seek, file, 1, MPI_SEEK_SET);
	C(File_read_all_begin, file, &in[1], 1, MPI_INT);
	C(File_read_all_end, file, &in[1], MPI_STATUS_IGNORE);
	C(File_close, &file);
	say("file size", in, 2);
	C(Barrier, MPI_COMM_WORLD);
	if (rank == 0)
		C(File_delete, path, MPI_INFO_NULL);
}

static void ask_neighbours(void)
{
	const int dims[1] = { 2 }, periods[1] = { 1 }, weight = 1;
	int out[2] = { 3 + rank, 5 + rank }, in[8] = { 0 }, coords[1], left, right;
	MPI_Comm ring, graph;
	MPI_Request request;

	C(Cart_create, MPI_COMM_WORLD, 1, dims, periods, 0, &ring);
	C(Cart_coords, ring, rank, 1, coords);
	C(Cart_shift, ring, 0, 1, &left, &right);
	C(Neighbor_allgather, out, 1, MPI_INT, in, 1, MPI_INT, ring);
	C(Neighbor_alltoall, out, 1, MPI_INT, in + 2, 1, MPI_INT, ring);
	C(Ineighbor_allgather, out, 1, MPI_INT, in + 4, 1, MPI_INT, ring, &request);
	C(Wait, &request, MPI_STATUS_IGNORE);
	C(Comm_free, &ring);
	C(Dist_graph_create_adjacent, MPI_COMM_WORLD, 1, &peer, &weight, 1, &peer, &weight,
	  MPI_INFO_NULL, 0, &graph);
	C(Neighbor_allgather, out, 1, MPI_INT, in + 6, 1, MPI_INT, graph);
	C(Comm_free, &graph);
	in[7] = coords[0] + 10 * left + 100 * right;
	say("neighbours", in, 8);
}

static void collect_later(void)
{
	int in[10] = { rank == 0 ? 4 : 0 }, out[2] = { 1 + rank, 2 + rank };
	MPI_Request requests[8];

	C(Ibarrier, MPI_COMM_WORLD, &requests[0]);
	C(Ibcast, &in[0], 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[1]);
	C(Iallreduce, out, &in[1], 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[2]);
	C(Iallgather, out, 1, MPI_INT, &in[3], 1, MPI_INT, MPI_COMM_WORLD, &requests[3]);
	C(Ialltoall, out, 1, MPI_INT, &in[5], 1, MPI_INT, MPI_COMM_WORLD, &requests[4]);
	C(Iscan, out, &in[7], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[5]);
	C(Igather, out, 1, MPI_INT, &in[8], 1, MPI_INT, 1, MPI_COMM_WORLD, &requests[6]);
	C(Waitall, 7, requests, statuses);
	C(Reduce_scatter_block, out, &in[0], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	C(Exscan, out, &in[5], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	say("later", in, 10);
}

static void persist(void)
{
	int in = 0, out, got[3];
	MPI_Request requests[2];
	MPI_Message message;

	C(Send_init, &out, 1, MPI_INT, peer, 60, MPI_COMM_WORLD, &requests[0]);
	C(Recv_init, &in, 1, MPI_INT, peer, 60, MPI_COMM_WORLD, &requests[1]);
	for (int i = 0; i < 2; i++) {
		out = 10 * i + rank;
		C(Startall, 2, requests);
		C(Waitall, 2, requests, statuses);
		got[i] = in;
	}
	C(Request_free, &requests[0]);
	C(Request_free, &requests[1]);
	C(Isend, &out, 1, MPI_INT, peer, 61, MPI_COMM_WORLD, &requests[0]);
	C(Mprobe, MPI_ANY_SOURCE, 61, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
	C(Mrecv, &got[2], 1, MPI_INT, &message, MPI_STATUS_IGNORE);
	C(Wait, &requests[0], MPI_STATUS_IGNORE);
	say("persistent", got, 3);
}

static void buffer(void)
{
	char space[256 + MPI_BSEND_OVERHEAD];
	int bytes, in, position = 0;
	char packed[64];
	void *where;

	C(Buffer_attach, space, sizeof(space));
	C(Bsend, &rank, 1, MPI_INT, peer, 62, MPI_COMM_WORLD);
	C(Recv, &in, 1, MPI_INT, peer, 62, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	C(Buffer_detach, &where, &bytes);
	C(Pack, &in, 1, MPI_INT, packed, sizeof(packed), &position, MPI_COMM_WORLD);
	position = 0;
	C(Unpack, packed, sizeof(packed), &position, &bytes, 1, MPI_INT, MPI_COMM_WORLD);
	say("buffered", &bytes, 1);
}

static void cross(void)
{
	int out = 20 + rank, in[3] = { 0 };
	MPI_Comm half, between, merged;

	C(Comm_split, MPI_COMM_WORLD, rank, 0, &half);
	C(Intercomm_create, half, 0, MPI_COMM_WORLD, peer, 63, &between);
	C(Comm_remote_size, between, &in[0]);
	C(Allreduce, &out, &in[1], 1, MPI_INT, MPI_SUM, between);
	C(Sendrecv, &out, 1, MPI_INT, 0, 64, &in[2], 1, MPI_INT, 0, 64, between, MPI_STATUS_IGNORE);
	C(Barrier, between);
	C(Intercomm_merge, between, rank, &merged);
	C(Bcast, &in[0], 1, MPI_INT, 0, merged);
	C(Comm_free, &merged);
	C(Comm_free, &between);
	C(Comm_free, &half);
	say("crossed", in, 3);
}

int main(int argc, char **argv)
{
	char path[512] = "wide_calls.data";

	C(Init, &argc, &argv);
	if (open_pair(argc > 1 ? argv[1] : NULL) < 0)
		return 1;
	if (argc > 1)
		(void)snprintf(path, sizeof(path), "%s.data", argv[1]);
	reach_into_windows();
	use_file(path);
	ask_neighbours();
	collect_later();
	persist();
	buffer();
	cross();
	C(Finalize);
	say_counts();
	return 0;
}
