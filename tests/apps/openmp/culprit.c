// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 works, 7 ms in f and 3 ms in g by turns, while the others wait in MPI_Recv; with regions
// half as long in a second thread beside it.
// usage: culprit ROUNDS [regions]
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/apps/clocked.h"

#define MS 1000000ll

static struct clocked f_clock, g_clock;

__attribute__((noinline)) static void f(int64_t work_ns)
{
	CLOCKED_WORK(&f_clock, work_ns);
}

__attribute__((noinline)) static void g(int64_t work_ns)
{
	CLOCKED_WORK(&g_clock, work_ns);
}

static void work_in_region(void)
{
#pragma omp parallel num_threads(2)
	{
		int64_t part = 2;

#pragma omp master
		part = 1;
		work_pin((int)part);
		f(7 * MS / part);
		g(3 * MS / part);
	}
}

/*
 * Leaves the CPUs to the threads of rank 0, in its scheduling group and among groups: of one that
 * queues before it comes to f, its clock does not know that it is active.
 */
static void step_back(void)
{
	const int fd = getsid(0) == getpid() ? open("/proc/self/autogroup", O_WRONLY) : -1;

	(void)setpriority(PRIO_PROCESS, 0, 19);
	/* of ordinary users the kernel takes one such wish in 100 ms, of all of them together */
	for (int i = 0; fd >= 0 && write(fd, "19", 2) < 0 && errno == EAGAIN && i < 100; i++)
		usleep(20000);
	if (fd >= 0)
		(void)close(fd);
}

int main(int argc, char **argv)
{
	const long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 0;
	int rank, size, provided, ball = 0;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (argc > 2 && rank != 0)
		step_back();
	for (long round = 0; round < rounds; round++) {
		if (rank != 0) {
			MPI_Recv(&ball, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			continue;
		}
		if (argc > 2) {
			work_in_region();
		} else {
			f(7 * MS);
			g(3 * MS);
		}
		for (int i = 1; i < size; i++)
			MPI_Send(&ball, 1, MPI_INT, i, 0, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	if (rank == 0) {
		clocked_tell("f", &f_clock, NULL, NULL, 1);
		clocked_tell("g", &g_clock, NULL, NULL, 1);
	}
	return 0;
}
