// SPDX-License-Identifier: BSD-3-Clause
// Three ranks, one of which is late each round, by sleeping; who waits for it depends on the call.
//   receiver  rank 1 receives 20 ms after rank 0 has begun to send a large message
//   progress  the same, but rank 1 has posted the receive before
//   wait, wait_progress
//             the same two, but rank 0 starts the send and waits for it
//   exchange  rank 0 and 1 post a large message each way, and wait for both; so rank 1 is late
//   elsewhere rank 0 receives a large message that rank 1 has begun to send; 20 ms later that one
//             exchanges small ones with it, before it waits for its request
//   all       as wait, but rank 0 waits for a small one to rank 2 as well
//   leaf      rank 0 broadcasts after 10 ms, rank 1 is there at once, rank 2 comes after 30
//   gather    rank 0 reduces at once, rank 1 gives its part after 20 ms, rank 2 after 2
//   both      rank 0 waits for a message of each other one: rank 1 sends after A ms, rank 2 after B
// usage: late_partners MODE ROUNDS [A B]
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#pragma GCC diagnostic ignored "-Wstringop-overflow" /* MPICH's STATUSES_IGNORE is 1 */

#define LARGE (1 << 20)

static char buffer[LARGE];
static int rank;

static void sleep_ms(long ms)
{
	const struct timespec time = { .tv_nsec = ms * 1000000 };

	if (ms)
		(void)nanosleep(&time, NULL);
}

static void send_all(void)
{
	MPI_Request requests[2];
	MPI_Status statuses[2];

	MPI_Isend(buffer, LARGE, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &requests[0]);
	MPI_Isend(&rank, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, &requests[1]);
	MPI_Waitall(2, requests, statuses);
}

static void send_and_wait(void)
{
	MPI_Request request;

	MPI_Isend(buffer, LARGE, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &request);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void exchange_late(void)
{
	static char in[LARGE];
	MPI_Request requests[2];
	MPI_Status statuses[2];

	if (rank > 1)
		return;
	MPI_Irecv(in, LARGE, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
	MPI_Isend(buffer, LARGE, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
	sleep_ms(20L * rank);
	MPI_Waitall(2, requests, statuses);
}

/* Rank 0 has received the large message when the small ones are exchanged. */
static void help_elsewhere(void)
{
	MPI_Request request;
	int in;

	if (rank > 1)
		return;
	if (rank == 1) {
		MPI_Isend(buffer, LARGE, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request);
		sleep_ms(20);
	} else {
		MPI_Recv(buffer, LARGE, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 1, &in, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	if (rank == 1)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void receive_late(int is_posted)
{
	MPI_Request request;

	if (is_posted)
		MPI_Irecv(buffer, LARGE, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request);
	sleep_ms(20);
	if (is_posted)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	else
		MPI_Recv(buffer, LARGE, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send_late(const char *mode)
{
	const int is_all = !strcmp(mode, "all");

	if (rank == 0 && is_all)
		send_all();
	else if (rank == 0 && !strncmp(mode, "wait", 4))
		send_and_wait();
	else if (rank == 0)
		MPI_Send(buffer, LARGE, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
	if (rank == 1)
		receive_late(!strcmp(mode, "progress") || !strcmp(mode, "wait_progress"));
	if (rank == 2 && is_all)
		MPI_Recv(&(int){ 0 }, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void come_late(const long ms[3], int is_broadcast)
{
	int own = rank, sum;

	sleep_ms(ms[rank % 3]);
	if (is_broadcast)
		MPI_Bcast(&own, 1, MPI_INT, 0, MPI_COMM_WORLD);
	else
		MPI_Reduce(&own, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
}

/* Only rank 0 ever waits. */
static void send_both(const long ms[2])
{
	MPI_Request requests[2];
	int in[2];

	if (rank == 0) {
		for (int i = 0; i < 2; i++)
			MPI_Irecv(&in[i], 1, MPI_INT, 1 + i, 0, MPI_COMM_WORLD, &requests[i]);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	} else if (rank < 3) {
		sleep_ms(ms[rank - 1]);
		MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
	}
}

int main(int argc, char **argv)
{
	static const long leaf[3] = { 10, 0, 30 }, gather[3] = { 0, 20, 2 };
	long both[2] = { 0 };
	const char *mode;

	if (argc != 3 && argc != 5)
		return 2;
	mode = argv[1];
	for (int i = 3; i < argc; i++)
		both[i - 3] = strtol(argv[i], NULL, 10);
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (!strcmp(mode, "all"))
		send_late("receiver"); /* shows that sends of this size wait */
	for (long i = strtol(argv[2], NULL, 10); i; i--) {
		if (!strcmp(mode, "leaf"))
			come_late(leaf, 1);
		else if (!strcmp(mode, "gather"))
			come_late(gather, 0);
		else if (!strcmp(mode, "both"))
			send_both(both);
		else if (!strcmp(mode, "exchange"))
			exchange_late();
		else if (!strcmp(mode, "elsewhere"))
			help_elsewhere();
		else
			send_late(mode);
	}
	MPI_Finalize();
	return 0;
}
