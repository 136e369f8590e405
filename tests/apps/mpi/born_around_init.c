// SPDX-License-Identifier: BSD-3-Clause
// A rank with a thread of the program's own, started before MPI_Init ("early") or after it.
#include <mpi.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static pthread_barrier_t barrier;

static void *meet(void *unused)
{
	(void)pthread_barrier_wait(&barrier);
	return unused;
}

int main(int argc, char **argv)
{
	const int is_early = argc > 1 && strcmp(argv[1], "early") == 0;
	pthread_t thread;

	if (pthread_barrier_init(&barrier, NULL, 2) != 0)
		return 2;
	if (is_early && pthread_create(&thread, NULL, meet, NULL) != 0)
		return 2;
	MPI_Init(&argc, &argv);
	if (!is_early && pthread_create(&thread, NULL, meet, NULL) != 0)
		return 2;
	(void)usleep(20000);
	(void)pthread_barrier_wait(&barrier);
	(void)pthread_join(thread, NULL);
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
