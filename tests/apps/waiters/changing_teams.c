// SPDX-License-Identifier: BSD-3-Clause
// Teams of 2, 1, 2 and 3 in turn, or of 2 in each of 2, for which a runtime makes new threads.
// usage: changing_teams flat|nested ROUNDS MS
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "tests/apps/work.h"

static void work_flat(long round, int64_t work_ns)
{
#pragma omp parallel num_threads(2)
	work_for_ns(work_ns);
#pragma omp parallel num_threads(1 + (int)(round % 2) * 2)
	work_for_ns(work_ns);
}

static void work_nested(int64_t work_ns)
{
#pragma omp parallel num_threads(2)
	{
#pragma omp parallel num_threads(2)
		work_for_ns(work_ns);
	}
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	const int is_nested = !strcmp(argv[1], "nested");
	const long rounds = strtol(argv[2], NULL, 10);
	const int64_t work_ns = strtol(argv[3], NULL, 10) * 1000000;

	omp_set_max_active_levels(2);
	for (long i = 0; i < rounds; i++) {
		if (is_nested)
			work_nested(work_ns);
		else
			work_flat(i, work_ns);
	}
	return 0;
}
