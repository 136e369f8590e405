// SPDX-License-Identifier: BSD-3-Clause
// Three ranks, one of which is late each round, by sleeping; who waits for it depends on the call.
//   receiver  rank 1 receives 20 ms after rank 0 has begun to send a large message
//   progress  the same, but rank 1 has posted the receive before
//   leaf      rank 0 broadcasts after 10 ms, rank 1 is there at once, rank 2 comes after 30
//   gather    rank 0 reduces at once, rank 1 gives its part after 20 ms, rank 2 after 2
// usage: late_partners MODE ROUNDS
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LARGE (1 << 20)

static char buffer[LARGE];
static int rank;

static void sleep_ms(long ms)
{
	const struct timespec time = { .tv_nsec = ms * 1000000 };

	if (ms)
		(void)nanosleep(&time, NULL);
}

static void send_late(int is_posted)
{
	MPI_Request request;

	if (rank == 0)
		MPI_Send(buffer, LARGE, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
	if (rank != 1)
		return;
	if (is_posted)
		MPI_Irecv(buffer, LARGE, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &request);
	sleep_ms(20);
	if (is_posted)
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	else
		MPI_Recv(buffer, LARGE, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
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

int main(int argc, char **argv)
{
	static const long leaf[3] = { 10, 0, 30 }, gather[3] = { 0, 20, 2 };
	const char *mode;

	if (argc != 3)
		return 2;
	mode = argv[1];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (long i = strtol(argv[2], NULL, 10); i; i--) {
		if (!strcmp(mode, "receiver") || !strcmp(mode, "progress"))
			send_late(mode[0] == 'p');
		else
			come_late(mode[0] == 'l' ? leaf : gather, mode[0] == 'l');
	}
	MPI_Finalize();
	return 0;
}
