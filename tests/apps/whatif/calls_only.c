// SPDX-License-Identifier: BSD-3-Clause
// Calls of MPI that do next to nothing, one after the other, and some work between: most of the
// time of a recorded run is the shim's own.
//
// usage: calls_only MS          of CPU time in calls, and a quarter of that in work
#include <mpi.h>
#include <stdlib.h>

#include "tests/apps/work.h"

#define CALLS 1000
#define STEP_NS 4000000

static void call_for_ns(int64_t ns)
{
	const int64_t end_ns = work_clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;
	int size;

	while (work_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end_ns)
		for (int i = 0; i < CALLS; i++)
			(void)MPI_Comm_size(MPI_COMM_WORLD, &size);
}

int main(int argc, char **argv)
{
	const int64_t all_ns = (argc > 1 ? strtol(argv[1], NULL, 10) : 1000) * 1000000L;

	MPI_Init(&argc, &argv);
	for (int64_t ns = 0; ns < all_ns; ns += STEP_NS) {
		call_for_ns(STEP_NS);
		work_for_ns(STEP_NS / 4);
	}
	MPI_Finalize();
	return 0;
}
