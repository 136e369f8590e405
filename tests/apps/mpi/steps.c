// SPDX-License-Identifier: BSD-3-Clause
// Two ranks that work and exchange messages, step by step, for so many ms each.
//   exchange  four messages each way under way at once, one forth and back, and a sum of all
//   pass      rank 0 works and sends, rank 1 receives and works; at the end rank 0 works on alone,
//             and before all that rank 1 comes late to three receives
// usage: steps MODE STEPS MS-OF-RANK-0 MS-OF-RANK-1 BYTES [MS-ALONE]
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "tests/apps/work.h"

#define MESSAGES 4
#define LARGEST (1 << 20)
#define LATE_MS 5

static char sent[MESSAGES][LARGEST], received[MESSAGES][LARGEST];
static int rank, bytes;

static void work(long ms)
{
	work_for_ns(ms * 1000000);
	__asm__ volatile("" ::: "memory");
}

static void send(void)
{
	MPI_Send(sent[0], bytes, MPI_CHAR, 1 - rank, MESSAGES, MPI_COMM_WORLD);
}

static void receive(void)
{
	MPI_Recv(received[0], bytes, MPI_CHAR, 1 - rank, MESSAGES, MPI_COMM_WORLD,
		 MPI_STATUS_IGNORE);
}

static void exchange(void)
{
	MPI_Request requests[2 * MESSAGES];
	MPI_Status statuses[2 * MESSAGES];
	int own = 1, sum;

	for (int i = 0; i < MESSAGES; i++)
		MPI_Irecv(received[i], bytes, MPI_CHAR, 1 - rank, i, MPI_COMM_WORLD, &requests[i]);
	for (int i = 0; i < MESSAGES; i++)
		MPI_Isend(sent[i], bytes, MPI_CHAR, 1 - rank, i, MPI_COMM_WORLD,
			  &requests[MESSAGES + i]);
	MPI_Waitall(2 * MESSAGES, requests, statuses);
	if (rank == 0)
		send();
	receive();
	if (rank == 1)
		send();
	MPI_Allreduce(&own, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* By calls of its own, for code is told apart by the calls around it. */
static void come_late(void)
{
	for (int i = 0; i < 3; i++) {
		if (rank == 0) {
			MPI_Send(sent[0], bytes, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
		} else {
			work(LATE_MS);
			MPI_Recv(received[0], bytes, MPI_CHAR, 0, 0, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
		}
	}
}

static void pass(long ms)
{
	if (rank == 0) {
		work(ms);
		send();
	} else {
		receive();
		work(ms);
	}
}

int main(int argc, char **argv)
{
	const int is_pass = argc == 7 && !strcmp(argv[1], "pass");
	long steps, ms;

	if (argc != 6 && !is_pass)
		return 2;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	steps = strtol(argv[2], NULL, 10);
	ms = strtol(argv[rank ? 4 : 3], NULL, 10);
	bytes = (int)strtol(argv[5], NULL, 10);
	if (bytes < 0 || bytes > LARGEST)
		MPI_Abort(MPI_COMM_WORLD, 2);
	if (is_pass)
		come_late();
	MPI_Barrier(MPI_COMM_WORLD);
	for (long i = 0; i < steps; i++) {
		if (is_pass) {
			pass(ms);
		} else {
			work(ms);
			exchange();
		}
	}
	if (is_pass && rank == 0)
		work(strtol(argv[6], NULL, 10));
	MPI_Finalize();
	return 0;
}
