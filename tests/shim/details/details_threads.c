// SPDX-License-Identifier: BSD-3-Clause
// Part of details: threads that make communicators at the same time, in an order of their own on
// each rank, and send one message on each; the message's tag says which communicator it is.
#include <pthread.h>
#include <time.h>

#include "tests/shim/details/details.h"

#define THREADS 4
#define ROUNDS 40

static MPI_Comm comms[THREADS];
static int numbers[THREADS] = { 0, 1, 2, 3 };

static void *make_and_send(void *argument)
{
	const int number = *(int *)argument;

	for (int round = 0; round < ROUNDS; round++) {
		const struct timespec pause = { .tv_nsec = (rank * 7 + number * 5 + round) % 11 *
							   20000 };
		int out = round, in, tag = number * 1000 + round;
		MPI_Comm comm;

		(void)nanosleep(&pause, NULL);
		if (round % 2)
			MPI_Comm_dup(comms[number], &comm);
		else
			MPI_Comm_split(comms[number], 0, rank, &comm);
		MPI_Sendrecv(&out, 1, MPI_INT, right, tag, &in, 1, MPI_INT, left, tag, comm,
			     MPI_STATUS_IGNORE);
		MPI_Comm_free(&comm);
	}
	return NULL;
}

void details_threads(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, make_and_send, &numbers[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	expect("tags %d", THREADS * ROUNDS);
}
