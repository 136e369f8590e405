// SPDX-License-Identifier: BSD-3-Clause
// What records cost a thread that writes them as fast as it can: its ring, the first pass over
// that, and later ones.
//
// usage: ring_cost       prints CPU time: ms of the thread's first call; ns a record in the first
//                        pass; ns a record in later ones; ns of a reading of the clock; and
//                        the page faults of the first call and pass
// An MPI call makes two records; what MPI itself takes for it is not counted.
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "tests/apps/bare.h"

#define PASS 131072 // calls: 8 MiB of 32-byte records
#define LATER 4 // passes

static int (*bare_comm_rank)(MPI_Comm, int *);
static double first_ns, pass_ns, later_ns, reading_ns;
static long pass_faults;

static int64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static long faults(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) ? 0 : usage.ru_minflt;
}

static double calls_ns(int count)
{
	const int64_t before = cpu_ns();
	int rank;

	for (int i = 0; i < count; i++)
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	return (double)(cpu_ns() - before);
}

static double bare_ns(void)
{
	const int64_t before = cpu_ns();
	int rank;

	for (int i = 0; i < PASS; i++)
		bare_comm_rank(MPI_COMM_WORLD, &rank);
	return (double)(cpu_ns() - before);
}

/* What each record holds: a machine where that is dear has dear records. */
static double readings_ns(int count)
{
	const int64_t before = cpu_ns();
	volatile uint64_t sink;

	for (int i = 0; i < count; i++) {
#ifdef __x86_64__
		sink = __builtin_ia32_rdtsc();
#else
		sink = (uint64_t)cpu_ns();
#endif
	}
	(void)sink;
	return (double)(cpu_ns() - before);
}

static void *measure(void *unused)
{
	const double bare = bare_ns();
	const long faults_before = faults();

	(void)unused;
	first_ns = calls_ns(1);
	pass_ns = calls_ns(PASS) - bare;
	pass_faults = faults() - faults_before;
	reading_ns = readings_ns(PASS);
	later_ns = (calls_ns(LATER * PASS) - LATER * bare) / LATER;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int provided;

	*(void **)&bare_comm_rank = bare("PMPI_Comm_rank");
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	if (provided == MPI_THREAD_MULTIPLE && !pthread_create(&thread, NULL, measure, NULL)) {
		pthread_join(thread, NULL);
		printf("%.4f %.2f %.2f %.2f %ld\n", first_ns / 1e6, pass_ns / PASS / 2,
		       later_ns / PASS / 2, reading_ns / PASS, pass_faults);
	}
	MPI_Finalize();
	return 0;
}
