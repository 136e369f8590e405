// SPDX-License-Identifier: BSD-3-Clause
// Ranks that give each step to a thread of their own, sleep until that is done, and meet: rank 0's
// thread works FIRST ms, those of others OTHER ms.
// usage: deputies STEPS FIRST-MS OTHER-MS
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>

#include "tests/apps/work.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_changed = PTHREAD_COND_INITIALIZER;
static long given, done, steps, ms;
static int rank;

static __attribute__((noinline)) void assemble(void)
{
	work_for_ns(ms * 1000000);
	__asm__ volatile("" ::: "memory");
}

/* Sleeps until the counter is that far. */
static void await(const long *counter, long until)
{
	(void)pthread_mutex_lock(&lock);
	while (*counter < until)
		(void)pthread_cond_wait(&has_changed, &lock);
	(void)pthread_mutex_unlock(&lock);
}

static void advance(long *counter)
{
	(void)pthread_mutex_lock(&lock);
	++*counter;
	(void)pthread_mutex_unlock(&lock);
	(void)pthread_cond_signal(&has_changed); /* one sleeps at most */
}

static void *help(void *arg)
{
	(void)arg;
	work_pin(rank);
	for (long i = 1; i <= steps; i++) {
		await(&given, i);
		assemble();
		advance(&done);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t deputy;
	int provided;

	if (argc != 4)
		return 2;
	steps = strtol(argv[1], NULL, 10);
	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	ms = strtol(argv[rank ? 3 : 2], NULL, 10);
	work_pin(rank);
	if (pthread_create(&deputy, NULL, help, NULL))
		abort();
	for (long i = 1; i <= steps; i++) {
		advance(&given);
		await(&done, i);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	(void)pthread_join(deputy, NULL);
	MPI_Finalize();
	return 0;
}
