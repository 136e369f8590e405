// SPDX-License-Identifier: BSD-3-Clause
// Another PMPI library, as timers of MPI calls are: reads the clock and its CPU time around each.
//
// Each rank prints at its end "timer RANK CALLS OUTER INNER": seconds from the entry of its own
// functions to their return, and of these inside the PMPI function it calls.  In between lies the
// reading of the CPU time, a system call at which the kernel may take the CPU away.
#include <mpi.h>
#include <stdio.h>
#include <time.h>

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* mpi.h has them, for the program */

static double outer_s, inner_s, cpu_s;
static long calls;

static double seconds(clockid_t clock)
{
	struct timespec time;

	(void)clock_gettime(clock, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

struct timing {
	double outer, inner, cpu;
};

static struct timing begin(void)
{
	struct timing timing = { .outer = seconds(CLOCK_MONOTONIC) };

	timing.cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	timing.inner = seconds(CLOCK_MONOTONIC);
	return timing;
}

static int end(struct timing timing, int answer)
{
	inner_s += seconds(CLOCK_MONOTONIC) - timing.inner;
	cpu_s += seconds(CLOCK_PROCESS_CPUTIME_ID) - timing.cpu;
	outer_s += seconds(CLOCK_MONOTONIC) - timing.outer;
	calls++;
	return answer;
}

/* NOLINTBEGIN(readability-function-size): the interface is MPI's */

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
	      MPI_Request *request)
{
	const struct timing timing = begin();

	return end(timing, PMPI_Isend(buffer, count, type, to, tag, comm, request));
}

int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
	      MPI_Request *request)
{
	const struct timing timing = begin();

	return end(timing, PMPI_Irecv(buffer, count, type, from, tag, comm, request));
}

/* NOLINTEND(readability-function-size) */

int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
	const struct timing timing = begin();

	return end(timing, PMPI_Waitall(count, requests, statuses));
}

int MPI_Barrier(MPI_Comm comm)
{
	const struct timing timing = begin();

	return end(timing, PMPI_Barrier(comm));
}

int MPI_Finalize(void)
{
	int rank;

	(void)PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
	printf("timer %d %ld %.6f %.6f\n", rank, calls, outer_s, inner_s);
	return PMPI_Finalize();
}
