// SPDX-License-Identifier: BSD-3-Clause
// A loop of threads, whose ranks meet after each round: each thread takes A ms for its iterations,
// and B ms more for the first ones of rank 0; with -B its last thread sleeps so long instead.
// Threads have a CPU each.
// usage: uneven_loop ROUNDS A B
#include <omp.h>
#include <stdlib.h>
#include <time.h>
#ifdef HYBRID_MPI
#include <mpi.h>
#endif

#include "tests/apps/work.h"

#define CHUNK 4 /* iterations of a thread */

static __attribute__((noinline)) void even(double ms)
{
	WORK_HERE(ms);
}

/* Not the same code, or the compiler makes it one function. */
static __attribute__((noinline)) void uneven(double ms)
{
	WORK_HERE(ms + 0.001);
}

static void nap(double ms)
{
	const long ns = (long)(1e6 * ms);

	(void)nanosleep(&(struct timespec){ ns / 1000000000, ns % 1000000000 }, NULL);
}

static void run_round(int rank, double even_ms, double uneven_ms)
{
#pragma omp parallel for schedule(static)
	for (int i = 0; i < CHUNK * omp_get_max_threads(); i++) {
		if (rank == 0 && uneven_ms < 0 && i >= CHUNK * (omp_get_max_threads() - 1))
			nap(-uneven_ms / CHUNK);
		if (rank == 0 && uneven_ms > 0 && i < CHUNK)
			uneven(uneven_ms / CHUNK);
		even(even_ms / CHUNK);
	}
}

int main(int argc, char **argv)
{
	int rank = 0;

	if (argc != 4)
		return 2;
#ifdef HYBRID_MPI
	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &(int){ 0 });
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#endif
#pragma omp parallel
	work_pin(rank * omp_get_num_threads() + omp_get_thread_num());
	for (long i = strtol(argv[1], NULL, 10); i; i--) {
		run_round(rank, strtod(argv[2], NULL), strtod(argv[3], NULL));
#ifdef HYBRID_MPI
		MPI_Barrier(MPI_COMM_WORLD);
#endif
	}
#ifdef HYBRID_MPI
	MPI_Finalize();
#endif
	return 0;
}
