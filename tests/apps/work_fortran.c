// SPDX-License-Identifier: BSD-3-Clause
// Work for programs in Fortran.
#include "tests/apps/work.h"

void work_for(int64_t cpu_ns);
void work_on(int cpu_number);
void work_not(int64_t pause_ns);

void work_for(int64_t cpu_ns)
{
	work_for_ns(cpu_ns);
}

void work_on(int cpu_number)
{
	work_pin(cpu_number);
}

void work_not(int64_t pause_ns)
{
	const struct timespec pause = { .tv_nsec = pause_ns };

	nanosleep(&pause, NULL);
}
