// SPDX-License-Identifier: BSD-3-Clause
// Wants one CPU all the time; prints the CPU time others had meanwhile, by their own clocks.
// usage: crowded CPU SECONDS PID...
#include <stdio.h>
#include <stdlib.h>

#include "tests/apps/work.h"

#define PIDS_MAX 16

static int64_t used_ns(const char *pid)
{
	clockid_t clock;

	if (clock_getcpuclockid((pid_t)strtol(pid, NULL, 10), &clock))
		return 0;
	return work_clock_ns(clock);
}

int main(int argc, char **argv)
{
	int64_t end_ns, before_ns[PIDS_MAX];
	int pids = argc - 3;

	if (pids < 1 || pids > PIDS_MAX) {
		fprintf(stderr, "usage: crowded CPU SECONDS PID...\n");
		return 2;
	}
	work_pin((int)strtol(argv[1], NULL, 10));
	end_ns = work_clock_ns(CLOCK_MONOTONIC) + strtol(argv[2], NULL, 10) * 1000000000;
	for (int i = 0; i < pids; i++)
		before_ns[i] = used_ns(argv[3 + i]);
	while (work_clock_ns(CLOCK_MONOTONIC) < end_ns)
		for (volatile int i = 0; i < 2000; i++)
			;
	for (int i = 0; i < pids; i++)
		printf("%.6f\n", (double)(used_ns(argv[3 + i]) - before_ns[i]) * 1e-9);
	return 0;
}
