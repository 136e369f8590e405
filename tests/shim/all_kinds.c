// SPDX-License-Identifier: BSD-3-Clause
// Makes calls of every kind, with special buffers, handles and addresses; all_kinds.F90 makes the
// same from Fortran.
//
// usage: all_kinds OUTPUT      two ranks; they write OUTPUT.0 and OUTPUT.1, and share OUTPUT.data
#include "tests/shim/counted.h"

static MPI_Comm world;

static void ask(void)
{
	char host[MPI_MAX_PROCESSOR_NAME], label[MPI_MAX_OBJECT_NAME];
	int length, label_length, is_state[2];

	C(Get_processor_name, host, &length);
	C(Comm_set_name, world, "all kinds");
	C(Comm_get_name, world, label, &label_length);
	printf("result %d host %s %d label %s %d\n", rank, host, length, label, label_length);
	C(Initialized, &is_state[0]);
	C(Finalized, &is_state[1]);
	say("state", is_state, 2);
}

static void exchange(void)
{
	int out[4], in[4] = { -1, -1, -1, -1 }, indices[4], done;
	MPI_Request requests[8];
	MPI_Status status, statuses[4];

	for (int i = 0; i < 4; i++)
		out[i] = 10 * rank + i + 1;
	if (rank == 0) {
		C(Send, out, 1, MPI_INT, peer, 5, world);
		C(Recv, in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &status);
		say("any", (int[]){ in[0], status.MPI_SOURCE, status.MPI_TAG }, 3);
	} else {
		C(Recv, in, 1, MPI_INT, MPI_ANY_SOURCE, 5, world, MPI_STATUS_IGNORE);
		C(Ssend, out, 1, MPI_INT, peer, 6, world);
		say("any", in, 1);
	}
	C(Sendrecv, out, 2, MPI_INT, peer, 7, in + 1, 2, MPI_INT, peer, 7, world, &status);
	say("sendrecv", in + 1, 2);
	for (int i = 0; i < 4; i++) {
		C(Irecv, &in[i], 1, MPI_INT, peer, 20 + i, world, &requests[i]);
		C(Isend, &out[i], 1, MPI_INT, peer, 20 + i, world, &requests[4 + i]);
	}
	C(Waitall, 4, requests + 4, MPI_STATUSES_IGNORE);
	for (int left = 4; left > 0; left -= done)
		C(Waitsome, 4, requests, &done, indices, statuses);
	say("requests", in, 4);
}

static void repeat_persistent(void)
{
	int out[2], in[2], total = 0;
	MPI_Request requests[2];

	C(Recv_init, in, 2, MPI_INT, peer, 40, world, &requests[0]);
	C(Send_init, out, 2, MPI_INT, peer, 40, world, &requests[1]);
	for (int round = 1; round <= 3; round++) {
		out[0] = round;
		out[1] = rank;
		C(Startall, 2, requests);
		C(Waitall, 2, requests, MPI_STATUSES_IGNORE);
		total += 10 * in[0] + in[1];
	}
	C(Request_free, &requests[0]);
	C(Request_free, &requests[1]);
	say("persistent", &total, 1);
}

/* Loops of polls, told apart by another call, so that every poll span has one name. */
static void poll_all(void)
{
	int in, out = 60 + rank, is_there = 0;
	MPI_Request request;
	MPI_Status status;

	C(Ibarrier, world, &request);
	while (!is_there)
		C(Test, &request, &is_there, MPI_STATUS_IGNORE);
	C(Isend, &out, 1, MPI_INT, peer, 50, world, &request);
	for (is_there = 0; !is_there;)
		C(Iprobe, MPI_ANY_SOURCE, 50, world, &is_there, &status);
	C(Recv, &in, 1, MPI_INT, status.MPI_SOURCE, 50, world, MPI_STATUS_IGNORE);
	C(Wait, &request, MPI_STATUS_IGNORE);
	say("polled", (int[]){ in, status.MPI_TAG }, 2);
}

static void collect(void)
{
	int in[4] = { 1 + rank, 2 + rank, 3 + rank, 4 + rank }, out[2] = { 30 + rank, 40 + rank };
	const int ones[2] = { 1, 1 }, places[2] = { 1, 0 }, bytes[2] = { 4, 0 };
	const MPI_Datatype types[2] = { MPI_INT, MPI_INT };

	C(Allreduce, MPI_IN_PLACE, in, 4, MPI_INT, MPI_SUM, world);
	C(Bcast, &in[3], 1, MPI_INT, 1, world);
	C(Barrier, world);
	say("reduced", in, 4);
	C(Allgatherv, out, 1, MPI_INT, in, ones, places, MPI_INT, world);
	C(Alltoall, out, 1, MPI_INT, in + 2, 1, MPI_INT, world);
	say("gathered", in, 4);
	C(Alltoallw, out, ones, bytes, types, in, ones, bytes, types, world);
	say("alltoallw", in, 2);
}

/* BOTTOM: a type of absolute addresses. */
static void pass_bottom(void)
{
	int values[2] = { 70 + rank, 80 + rank }, lengths[2] = { 1, 1 };
	MPI_Datatype types[2] = { MPI_INT, MPI_INT }, pair;
	MPI_Aint addresses[2];

	C(Get_address, &values[0], &addresses[0]);
	C(Get_address, &values[1], &addresses[1]);
	C(Type_create_struct, 2, lengths, addresses, types, &pair);
	C(Type_commit, &pair);
	C(Bcast, MPI_BOTTOM, 1, pair, 1, world);
	C(Type_free, &pair);
	say("bottom", values, 2);
}

static void share_window(void)
{
	static int shared[4];
	int mine[2] = { 90 + 2 * rank, 91 + 2 * rank }, before[2] = { -1, -1 };
	MPI_Request request;
	MPI_Win window;
	int *memory;

	C(Win_create, shared, sizeof(shared), 4, MPI_INFO_NULL, world, &window);
	C(Win_fence, 0, window);
	C(Put, mine, 2, MPI_INT, peer, 0, 2, MPI_INT, window);
	C(Win_fence, 0, window);
	C(Win_lock, MPI_LOCK_EXCLUSIVE, peer, 0, window);
	C(Rget_accumulate, mine, 2, MPI_INT, before, 2, MPI_INT, peer, 0, 2, MPI_INT, MPI_SUM,
	  window, &request);
	C(Wait, &request, MPI_STATUS_IGNORE);
	C(Win_unlock, peer, window);
	C(Win_free, &window);
	say("window", shared, 4);
	say("before", before, 2);
	C(Alloc_mem, 64, MPI_INFO_NULL, &memory);
	memory[15] = 7;
	say("memory", &memory[15], 1);
	C(Free_mem, memory);
}

static void write_file(const char *output)
{
	int out[2] = { 100 + 2 * rank, 101 + 2 * rank }, in[4] = { 0 };
	char path[512];
	MPI_File file;

	snprintf(path, sizeof(path), "%s.data", output);
	C(File_open, world, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
	C(File_set_view, file, 8 * rank, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
	C(File_write_all, file, out, 2, MPI_INT, MPI_STATUS_IGNORE);
	C(File_set_view, file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
	C(File_sync, file);
	C(Barrier, world);
	C(File_read_at_all, file, 0, in, 4, MPI_INT, MPI_STATUS_IGNORE);
	C(File_close, &file);
	say("file", in, 4);
}

int main(int argc, char **argv)
{
	C(Init, &argc, &argv);
	if (argc < 2 || open_pair(argv[1]) != 0)
		return 1;
	C(Comm_dup, MPI_COMM_WORLD, &world);
	ask();
	exchange();
	repeat_persistent();
	poll_all();
	collect();
	pass_bottom();
	share_window();
	write_file(argv[1]);
	C(Comm_free, &world);
	C(Finalize);
	say_counts();
	return 0;
}
