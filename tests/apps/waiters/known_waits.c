// SPDX-License-Identifier: BSD-3-Clause
// Ranks that come late by known times, and tell when they came.  In each round:
//   sender     rank 1 works, then sends; rank 0 receives
//   order      rank 1 sends, works and sends again; rank 0 receives the second message first
//   waitall    rank 0 posts two receives and completes them in the other order; rank 1 sends both,
//              working before each
//   waitany    likewise, one after the other; rank 2 sends the second one
//   sendrecv   rank 1 works before both exchange
//   bcast      rank 1 is the root and works before
//   reduce     rank 0 is the root; rank 1 works before
//   allreduce, alltoall, barrier, fence, split, window, open, write
//              rank 1 works before; split: before a communicator is made; window: before one is,
//              and before it is freed; open: before they open FILE; write: before they write to it
//   scan       rank 0 works before; rank 1 needs its part
//   scan_back  rank 1 works before; rank 0 does not need its part, but MPICH has them exchange
//   iscan, iscan_back, iallreduce
//              likewise, by requests that they wait for
// Before the first round and after the last one all meet at a barrier.
// usage: known_waits MODE ROUNDS MS [FILE]
// prints after MPI_Finalize, a line each: rank, and of each act ns of the monotonic clock when the
// rank came to its call and when it had left it; with "edge" of the barriers around the rounds
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/apps/work.h"

#pragma GCC diagnostic ignored "-Wstringop-overflow" /* MPICH's STATUSES_IGNORE is 1 */

#define ACTS_MAX 4096

static int rank, size;
static long ms;
static struct act {
	int64_t came_ns, left_ns;
} acts[ACTS_MAX], edges[2];
static int act_count;
static int in[2], out[2];
static MPI_Win window;
static MPI_File file;
static const char *path;

/* The rank comes to its next call. */
static void come(void)
{
	if (act_count < ACTS_MAX)
		acts[act_count++].came_ns = work_clock_ns(CLOCK_MONOTONIC);
}

/* It has left it. */
static void leave(void)
{
	acts[act_count - 1].left_ns = work_clock_ns(CLOCK_MONOTONIC);
}

static void meet_at(struct act *edge)
{
	edge->came_ns = work_clock_ns(CLOCK_MONOTONIC);
	MPI_Barrier(MPI_COMM_WORLD);
	edge->left_ns = work_clock_ns(CLOCK_MONOTONIC);
}

static void come_late(int is_late)
{
	if (is_late)
		work_for_ns(ms * 1000000);
	come();
}

static void send_late(void)
{
	come_late(rank == 1);
	if (rank == 1)
		MPI_Send(out, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
	else
		MPI_Recv(in, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	leave();
}

static void send_in_order(void)
{
	if (rank == 1) {
		MPI_Send(out, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
		come_late(1);
		MPI_Send(out, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
	} else {
		come();
		MPI_Recv(in, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Recv(in, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	leave();
}

/* The last two acts are told the other way round. */
static void swap_acts(void)
{
	const struct act last = acts[act_count - 1];

	acts[act_count - 1] = acts[act_count - 2];
	acts[act_count - 2] = last;
}

static void complete_two(int is_any)
{
	MPI_Request requests[2];
	int first, second;

	for (int i = 0; i < 2; i++)
		MPI_Irecv(&in[i], 1, MPI_INT, is_any ? 1 + i : 1, i, MPI_COMM_WORLD,
			  &requests[1 - i]);
	come();
	if (!is_any) {
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
		leave();
		return;
	}
	MPI_Waitany(2, requests, &first, MPI_STATUS_IGNORE);
	leave();
	come();
	MPI_Waitany(2, requests, &second, MPI_STATUS_IGNORE);
	leave();
	if (first < second) /* rank 2's: where both are there, either may be reported */
		swap_acts();
}

static void send_first(int tag)
{
	come_late(1);
	MPI_Send(out, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
	leave();
}

static void send_second(int tag)
{
	come_late(1);
	MPI_Send(out, 1, MPI_INT, 0, tag, MPI_COMM_WORLD);
	leave();
}

static void send_two(void)
{
	if (rank == 0) {
		complete_two(0);
	} else {
		send_first(0);
		send_second(1);
	}
}

/* Rank 2 sleeps, as there may be two CPUs. */
static void send_from_two(void)
{
	const struct timespec time = { .tv_nsec = 2 * ms * 1000000 };

	if (rank == 0) {
		complete_two(1);
	} else if (rank == 1) {
		send_first(0);
	} else {
		(void)nanosleep(&time, NULL);
		come();
		MPI_Send(out, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
		leave();
	}
}

static void make_communicator(void)
{
	MPI_Comm comm;

	MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &comm);
	MPI_Comm_free(&comm);
}

static void make_window(void)
{
	MPI_Win made;

	MPI_Win_create(in, sizeof(in), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &made);
	leave();
	come_late(rank == 1);
	MPI_Win_free(&made);
}

static void open_file(void)
{
	MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
		      &file);
	MPI_File_close(&file);
}

static void meet_by_request(const char *mode)
{
	MPI_Request request;

	if (!strcmp(mode, "iallreduce"))
		MPI_Iallreduce(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
	else
		MPI_Iscan(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void meet_elsewhere(const char *mode)
{
	if (*mode == 'i')
		meet_by_request(mode);
	else if (!strcmp(mode, "fence"))
		MPI_Win_fence(0, window);
	else if (!strcmp(mode, "split"))
		make_communicator();
	else if (!strcmp(mode, "window"))
		make_window();
	else if (!strcmp(mode, "open"))
		open_file();
	else if (!strcmp(mode, "write"))
		MPI_File_write_at_all(file, (MPI_Offset)sizeof(out) * rank, out, 2, MPI_INT,
				      MPI_STATUS_IGNORE);
	else
		MPI_Scan(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void meet(const char *mode)
{
	come_late(rank == (strcmp(mode, "scan") && strcmp(mode, "iscan")));
	if (!strcmp(mode, "sendrecv"))
		MPI_Sendrecv(out, 1, MPI_INT, 1 - rank, 0, in, 1, MPI_INT, 1 - rank, 0,
			     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	else if (!strcmp(mode, "bcast"))
		MPI_Bcast(in, 1, MPI_INT, 1, MPI_COMM_WORLD);
	else if (!strcmp(mode, "reduce"))
		MPI_Reduce(out, in, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
	else if (!strcmp(mode, "allreduce"))
		MPI_Allreduce(out, in, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	else if (!strcmp(mode, "alltoall"))
		MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
	else if (!strcmp(mode, "barrier"))
		MPI_Barrier(MPI_COMM_WORLD);
	else
		meet_elsewhere(mode);
	leave();
}

static void play(const char *mode)
{
	if (!strcmp(mode, "sender"))
		send_late();
	else if (!strcmp(mode, "order"))
		send_in_order();
	else if (!strcmp(mode, "waitall"))
		send_two();
	else if (!strcmp(mode, "waitany"))
		send_from_two();
	else
		meet(mode);
}

static void tell(const struct act *act, const char *what)
{
	printf("%d %lld %lld%s\n", rank, (long long)act->came_ns, (long long)act->left_ns, what);
}

int main(int argc, char **argv)
{
	if (argc != 4 && argc != 5)
		return 2;
	ms = strtol(argv[3], NULL, 10);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (size != (strcmp(argv[1], "waitany") ? 2 : 3)) {
		MPI_Finalize();
		return 2;
	}
	if (!strcmp(argv[1], "fence"))
		MPI_Win_create(in, sizeof(in), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
	path = argc == 5 ? argv[4] : "/dev/null";
	if (!strcmp(argv[1], "write"))
		MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY,
			      MPI_INFO_NULL, &file);
	meet_at(&edges[0]);
	for (long i = strtol(argv[2], NULL, 10); i; i--)
		play(argv[1]);
	meet_at(&edges[1]);
	if (!strcmp(argv[1], "write"))
		MPI_File_close(&file);
	if (!strcmp(argv[1], "fence"))
		MPI_Win_free(&window);
	MPI_Finalize();
	for (int i = 0; i < act_count; i++)
		tell(&acts[i], "");
	for (int i = 0; i < 2; i++)
		tell(&edges[i], " edge");
	return 0;
}
