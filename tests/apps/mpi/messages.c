// SPDX-License-Identifier: BSD-3-Clause
// Every way to send and receive, counted by the program; rank 0 prints who sent what to whom.
//
// Prints "pair FROM TO MESSAGES BYTES" and "call NAME sent|received MESSAGES BYTES", then
// "last RANK": who comes last at 20 reductions on a communicator of all ranks in reverse order.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wstringop-overflow" /* MPICH's STATUSES_IGNORE is 1 */

#define ROUNDS 20
#define BYTES_MAX 300000 /* eager and rendezvous */
#define LATE 1
#define LATE_US 5000

enum way {
	WAY_SEND,
	WAY_RECV,
	WAY_ISEND,
	WAY_IRECV,
	WAY_START,
	WAY_SENDRECV,
	WAY_COUNT
};

static const char *const names[WAY_COUNT] = { "MPI_Send",  "MPI_Recv",     "MPI_Isend",
					      "MPI_Irecv", "MPI_Startall", "MPI_Sendrecv" };

static int rank, size;
static char *out, *in;
static long *sent; /* by peer: messages, bytes */
static long calls[WAY_COUNT][4]; /* sent messages, bytes; received messages, bytes */

static void count_send(enum way way, int to, long bytes)
{
	sent[2 * to]++;
	sent[2 * to + 1] += bytes;
	calls[way][0]++;
	calls[way][1] += bytes;
}

static void count_receive(enum way way, long bytes)
{
	calls[way][2]++;
	calls[way][3] += bytes;
}

static int size_of(int i)
{
	return (int)((long)(i * 7919) % BYTES_MAX);
}

/* A ring of blocking messages; the receiver may not know from whom. */
static void blocking(MPI_Comm comm)
{
	int next = (rank + 1) % size, last = (rank + size - 1) % size;

	for (int i = 0; i < ROUNDS; i++) {
		MPI_Status status;

		if (rank) {
			MPI_Recv(in, BYTES_MAX, MPI_BYTE, i % 2 ? MPI_ANY_SOURCE : last, i, comm,
				 &status);
			count_receive(WAY_RECV, size_of(i));
		}
		MPI_Send(out, size_of(i), MPI_BYTE, next, i, comm);
		count_send(WAY_SEND, next, size_of(i));
		if (!rank) {
			MPI_Recv(in, BYTES_MAX, MPI_BYTE, last, MPI_ANY_TAG, comm,
				 MPI_STATUS_IGNORE);
			count_receive(WAY_RECV, size_of(i));
		}
	}
	MPI_Send(out, 1, MPI_BYTE, MPI_PROC_NULL, 0, comm);
	MPI_Recv(in, 1, MPI_BYTE, MPI_PROC_NULL, 0, comm, MPI_STATUS_IGNORE);
}

/* Everybody to everybody else, at once; half of the waits are polls. */
static void requests(MPI_Comm comm)
{
	MPI_Request *all = malloc(2 * (size_t)size * sizeof(MPI_Request));
	int is_done = 0;

	for (int i = 0; i < ROUNDS; i++) {
		int count = 0;

		for (int peer = 0; peer < size; peer++) {
			if (peer == rank)
				continue;
			MPI_Irecv(in, BYTES_MAX, MPI_BYTE, i % 3 ? peer : MPI_ANY_SOURCE, 100 + i,
				  comm, &all[count++]);
			count_receive(WAY_IRECV, size_of(i));
			MPI_Isend(out, size_of(i), MPI_BYTE, peer, 100 + i, comm, &all[count++]);
			count_send(WAY_ISEND, peer, size_of(i));
		}
		if (i % 2)
			MPI_Waitall(count, all, MPI_STATUSES_IGNORE);
		for (is_done = 0; i % 2 == 0 && !is_done;)
			MPI_Testall(count, all, &is_done, MPI_STATUSES_IGNORE);
		MPI_Barrier(comm); /* ANY_SOURCE of one round must not take the next one's */
	}
	free(all);
}

/* Many small sends at once: both libraries give those that are done one handle. */
static void burst(MPI_Comm comm)
{
	int next = (rank + 1) % size, last = (rank + size - 1) % size;
	MPI_Request all[2 * ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		MPI_Irecv(in + 8 * i, 8, MPI_BYTE, last, 50, comm, &all[i]);
		count_receive(WAY_IRECV, 8);
	}
	MPI_Barrier(comm);
	for (int i = 0; i < ROUNDS; i++) {
		MPI_Isend(out, 8, MPI_BYTE, next, 50, comm, &all[ROUNDS + i]);
		count_send(WAY_ISEND, next, 8);
	}
	MPI_Waitall(2 * ROUNDS, all, MPI_STATUSES_IGNORE);
}

static void persistent(MPI_Comm comm)
{
	int next = (rank + 1) % size, last = (rank + size - 1) % size;
	MPI_Request pair[2];

	MPI_Recv_init(in, BYTES_MAX, MPI_BYTE, last, 7, comm, &pair[0]);
	MPI_Send_init(out, 1234, MPI_BYTE, next, 7, comm, &pair[1]);
	for (int i = 0; i < ROUNDS; i++) {
		MPI_Startall(2, pair);
		count_send(WAY_START, next, 1234);
		count_receive(WAY_START, 1234);
		MPI_Waitall(2, pair, MPI_STATUSES_IGNORE);
	}
	MPI_Request_free(&pair[0]);
	MPI_Request_free(&pair[1]);
}

static void both_ways(MPI_Comm comm)
{
	int partner = (rank ^ 1) < size ? rank ^ 1 : rank;

	for (int i = 0; i < ROUNDS; i++) {
		MPI_Sendrecv(out, 64, MPI_BYTE, partner, 9, in, 64, MPI_BYTE, partner, 9, comm,
			     MPI_STATUS_IGNORE);
		count_send(WAY_SENDRECV, partner, 64);
		count_receive(WAY_SENDRECV, 64);
	}
}

static void late_reductions(MPI_Comm comm)
{
	for (int i = 0; i < ROUNDS; i++) {
		double mine = rank, sum = 0;

		if (rank == LATE)
			usleep(LATE_US);
		MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
	}
}

static void print_pairs(const long *all)
{
	for (int from = 0; from < size; from++)
		for (int to = 0; to < size; to++)
			if (all[2 * (from * size + to)])
				printf("pair %d %d %ld %ld\n", from, to,
				       all[2 * (from * size + to)],
				       all[2 * (from * size + to) + 1]);
}

static void report(void)
{
	long *all = calloc(2 * (size_t)size * (size_t)size, sizeof(*all));
	long sums[WAY_COUNT][4];

	MPI_Gather(sent, 2 * size, MPI_LONG, all, 2 * size, MPI_LONG, 0, MPI_COMM_WORLD);
	MPI_Reduce(calls, sums, 4 * WAY_COUNT, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
	if (!rank) {
		print_pairs(all);
		for (int way = 0; way < WAY_COUNT; way++)
			for (int i = 0; i < 4; i += 2)
				if (sums[way][i])
					printf("call %s %s %ld %ld\n", names[way],
					       i ? "received" : "sent", sums[way][i],
					       sums[way][i + 1]);
		printf("last %d\n", LATE);
	}
	free(all);
}

int main(int argc, char **argv)
{
	MPI_Comm copy, reverse;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	out = calloc(1, BYTES_MAX);
	in = calloc(1, BYTES_MAX);
	sent = calloc(2 * (size_t)size, sizeof(*sent));
	if (!out || !in || !sent)
		MPI_Abort(MPI_COMM_WORLD, 1);
	MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reverse);
	blocking(MPI_COMM_WORLD);
	requests(copy);
	burst(copy);
	persistent(copy);
	both_ways(MPI_COMM_WORLD);
	late_reductions(reverse);
	report();
	MPI_Comm_free(&copy);
	MPI_Comm_free(&reverse);
	MPI_Finalize();
	free(out);
	free(in);
	free(sent);
	return 0;
}
