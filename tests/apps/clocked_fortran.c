// SPDX-License-Identifier: BSD-3-Clause
// The clocks of two functions, for programs in Fortran.
#include "tests/apps/clocked.h"

static struct clocked clocks[2];

double clock_begin(void);
void clock_end(int place, double mark_ns, int64_t cpu_ns);
int64_t clock_cpu_ns(void);
void clock_tell(void);

double clock_begin(void)
{
	return clocked_count(1, NULL, 0, 0);
}

void clock_end(int place, double mark_ns, int64_t cpu_ns)
{
	(void)clocked_count(-1, &clocks[place], mark_ns, cpu_ns);
}

int64_t clock_cpu_ns(void)
{
	return work_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

void clock_tell(void)
{
	clocked_tell("f", &clocks[0], NULL, NULL, 1);
	clocked_tell("g", &clocks[1], NULL, NULL, 1);
	(void)fflush(stdout);
}
