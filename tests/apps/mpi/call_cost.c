// SPDX-License-Identifier: BSD-3-Clause
// What the shim adds to an MPI call: the wrapped call and MPI's own in turns, in one process.
//
// usage: call_cost [CHUNKS]      prints, from rank 0, one line per call:
//        NAME wrapped_ns bare_ns added_ns
// Each figure is the first percentile of chunk means, so that what else the machine does stays out.
// Between chunks the program sleeps, for the collector to drain the rings.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/apps/bare.h"

#define CHUNK 500
#define WARM_UP 50
#define PAUSE_NS 1000000

static int rank;

/* MPI's own functions, past any shim. */
static int (*bare_comm_rank)(MPI_Comm, int *);
static int (*bare_iprobe)(int, int, MPI_Comm, int *, MPI_Status *);
static int (*bare_send)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
static int (*bare_irecv)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
static int (*bare_send_init)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
static int (*bare_request_free)(MPI_Request *);
static int (*bare_wait)(MPI_Request *, MPI_Status *);
static int (*bare_allreduce)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
static int (*bare_recv)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
static int (*bare_put)(const void *, int, MPI_Datatype, int, MPI_Aint, int, MPI_Datatype, MPI_Win);
static int (*bare_fence)(int, MPI_Win);
static int (*bare_lock)(int, int, int, MPI_Win);
static int (*bare_flush)(int, MPI_Win);
static int (*bare_unlock)(int, MPI_Win);
#if MPI_VERSION >= 4
static int (*bare_start)(MPI_Request *);
static int (*bare_pready)(int, MPI_Request);
#endif

static MPI_Win win; /* of this process alone */
static MPI_Request sending, receiving; /* partitioned, to and from this process */

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void repeat_comm_rank(int count, int is_bare)
{
	int answer;

	for (int i = 0; i < count; i++)
		if (is_bare)
			bare_comm_rank(MPI_COMM_WORLD, &answer);
		else
			MPI_Comm_rank(MPI_COMM_WORLD, &answer);
}

static void repeat_iprobe(int count, int is_bare)
{
	int flag;

	for (int i = 0; i < count; i++)
		if (is_bare)
			bare_iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
		else
			MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

/* Two calls with details that never wait. */
static void repeat_init(int count, int is_bare)
{
	MPI_Request request;
	int out = 0;

	for (int i = 0; i < count; i++)
		if (is_bare) {
			bare_send_init(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
			bare_request_free(&request);
		} else {
			MPI_Send_init(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
			MPI_Request_free(&request);
		}
}

/* A message to itself: three calls. */
static void repeat_self(int count, int is_bare)
{
	MPI_Request request;
	int in, out = 0;

	for (int i = 0; i < count; i++)
		if (is_bare) {
			bare_irecv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
			bare_send(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
			bare_wait(&request, MPI_STATUS_IGNORE);
		} else {
			MPI_Irecv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request);
			MPI_Send(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		}
}

static void repeat_allreduce(int count, int is_bare)
{
	int in = 0, out = 1;

	for (int i = 0; i < count; i++)
		if (is_bare)
			bare_allreduce(&out, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
		else
			MPI_Allreduce(&out, &in, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
}

static void repeat_put_fence(int count, int is_bare)
{
	int out = 0;

	for (int i = 0; i < count; i++)
		if (is_bare) {
			bare_put(&out, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
			bare_fence(0, win);
		} else {
			MPI_Put(&out, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
			MPI_Win_fence(0, win);
		}
}

static void repeat_put_lock(int count, int is_bare)
{
	int out = 0;

	for (int i = 0; i < count; i++)
		if (is_bare) {
			bare_lock(MPI_LOCK_SHARED, 0, 0, win);
			bare_put(&out, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
			bare_flush(0, win);
			bare_unlock(0, win);
		} else {
			MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
			MPI_Put(&out, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
			MPI_Win_flush(0, win);
			MPI_Win_unlock(0, win);
		}
}

#if MPI_VERSION >= 4
/* A partitioned message to itself: five calls. */
static void repeat_partitioned(int count, int is_bare)
{
	for (int i = 0; i < count; i++)
		if (is_bare) {
			bare_start(&receiving);
			bare_start(&sending);
			bare_pready(0, sending);
			bare_wait(&sending, MPI_STATUS_IGNORE);
			bare_wait(&receiving, MPI_STATUS_IGNORE);
		} else {
			MPI_Start(&receiving);
			MPI_Start(&sending);
			MPI_Pready(0, sending);
			MPI_Wait(&sending, MPI_STATUS_IGNORE);
			MPI_Wait(&receiving, MPI_STATUS_IGNORE);
		}
}
#endif

/* A round trip: one Send and one Recv on each side, all four one after the other. */
static void repeat_ping_pong(int count, int is_bare)
{
	const int peer = 1 - rank;

	for (int i = 0; i < count; i++)
		for (int turn = 0; turn < 2; turn++) {
			const int is_sender = turn == rank;

			if (is_sender && is_bare)
				bare_send(NULL, 0, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
			else if (is_sender)
				MPI_Send(NULL, 0, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
			else if (is_bare)
				bare_recv(NULL, 0, MPI_BYTE, peer, 1, MPI_COMM_WORLD,
					  MPI_STATUS_IGNORE);
			else
				MPI_Recv(NULL, 0, MPI_BYTE, peer, 1, MPI_COMM_WORLD,
					 MPI_STATUS_IGNORE);
		}
}

static int compare(const void *a, const void *b)
{
	const double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static double first_percentile(double *means, int count)
{
	qsort(means, (size_t)count, sizeof(*means), compare);
	return means[count / 100];
}

static void measure(const char *name, void (*repeat)(int count, int is_bare), int chunks)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	double *means[2] = { calloc((size_t)chunks, sizeof(double)),
			     calloc((size_t)chunks, sizeof(double)) };
	double wrapped_ns, bare_ns;

	for (int chunk = 0; chunk < 2 * chunks; chunk++) {
		const int is_bare = chunk & 1;
		int64_t start_ns;

		repeat(WARM_UP, is_bare);
		start_ns = now_ns();
		repeat(CHUNK, is_bare);
		means[is_bare][chunk / 2] = (double)(now_ns() - start_ns) / CHUNK;
		if (!is_bare)
			nanosleep(&pause, NULL);
	}
	wrapped_ns = first_percentile(means[0], chunks);
	bare_ns = first_percentile(means[1], chunks);
	if (rank == 0)
		printf("%s %.1f %.1f %.1f\n", name, wrapped_ns, bare_ns, wrapped_ns - bare_ns);
	free(means[0]);
	free(means[1]);
}

static void find_bare(void)
{
	*(void **)&bare_comm_rank = bare("PMPI_Comm_rank");
	*(void **)&bare_iprobe = bare("PMPI_Iprobe");
	*(void **)&bare_send = bare("PMPI_Send");
	*(void **)&bare_recv = bare("PMPI_Recv");
	*(void **)&bare_send_init = bare("PMPI_Send_init");
	*(void **)&bare_request_free = bare("PMPI_Request_free");
	*(void **)&bare_irecv = bare("PMPI_Irecv");
	*(void **)&bare_wait = bare("PMPI_Wait");
	*(void **)&bare_allreduce = bare("PMPI_Allreduce");
	*(void **)&bare_put = bare("PMPI_Put");
	*(void **)&bare_fence = bare("PMPI_Win_fence");
	*(void **)&bare_lock = bare("PMPI_Win_lock");
	*(void **)&bare_flush = bare("PMPI_Win_flush");
	*(void **)&bare_unlock = bare("PMPI_Win_unlock");
#if MPI_VERSION >= 4
	*(void **)&bare_start = bare("PMPI_Start");
	*(void **)&bare_pready = bare("PMPI_Pready");
#endif
}

static void measure_one_sided(int chunks)
{
	int *target;

	MPI_Win_allocate(sizeof(*target), sizeof(*target), MPI_INFO_NULL, MPI_COMM_SELF, &target,
			 &win);
	MPI_Win_fence(0, win);
	measure("Put_fence", repeat_put_fence, chunks);
	MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
	measure("Put_lock", repeat_put_lock, chunks);
	MPI_Win_free(&win);
}

static void measure_partitioned(int chunks)
{
#if MPI_VERSION >= 4
	int out = 0, in;

	MPI_Psend_init(&out, 1, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, &sending);
	MPI_Precv_init(&in, 1, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_INFO_NULL, &receiving);
	measure("Partitioned", repeat_partitioned, chunks);
	MPI_Request_free(&sending);
	MPI_Request_free(&receiving);
#else
	(void)chunks;
	(void)sending;
	(void)receiving;
#endif
}

int main(int argc, char **argv)
{
	int chunks = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 1000;
	int size;

	if (chunks < 100 || chunks > 1000000) {
		fprintf(stderr, "usage: %s [CHUNKS], at least 100\n", argv[0]);
		return 2;
	}
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	find_bare();
	if (rank == 0) {
		measure("Comm_rank", repeat_comm_rank, chunks);
		measure("Iprobe", repeat_iprobe, chunks);
		measure("Allreduce", repeat_allreduce, chunks);
		measure("Irecv_Send_Wait", repeat_self, chunks);
		measure("Send_init_free", repeat_init, chunks);
		measure_one_sided(chunks);
		measure_partitioned(chunks);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (size == 2)
		measure("round_trip", repeat_ping_pong, chunks);
	MPI_Finalize();
	return 0;
}
