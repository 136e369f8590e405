// SPDX-License-Identifier: BSD-3-Clause
// While critd loads it leaves a CPU to who started it, where there is another, and has all again.
#include "collector/system/scheduling.h"

#include <sched.h>
#include <stdlib.h>

#include "tests/lib/check.h"

#define CPU_MOST 1024 /* of a cpu_set_t */
#define SOME_CPU 7 /* it need not exist */

static void allow(const cpu_set_t *cpus)
{
	CHECK_INT_EQ(sched_setaffinity(0, sizeof(*cpus), cpus), 0);
}

static void check_allowed(const cpu_set_t *wanted)
{
	cpu_set_t now;

	CHECK_INT_EQ(sched_getaffinity(0, sizeof(now), &now), 0);
	CHECK(CPU_EQUAL(&now, wanted));
}

/* Leaves the CPU, of these, and comes back. */
static void check_way(const cpu_set_t *allowed, unsigned int cpu)
{
	cpu_set_t others = *allowed;

	CPU_CLR(cpu, &others);
	allow(allowed);
	crit_scheduling_leave_cpu(cpu);
	check_allowed(CPU_COUNT(&others) ? &others : allowed);
	if (CPU_COUNT(&others))
		CHECK(sched_getcpu() != (int)cpu);
	crit_scheduling_drain();
	check_allowed(allowed);
}

int main(void)
{
	cpu_set_t all, one;

	CHECK_INT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
	for (unsigned int cpu = 0; cpu < CPU_MOST; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		check_way(&all, cpu);
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		check_way(&one, cpu); /* the only one */
		check_way(&one, cpu + 1); /* bound to another already */
	}
	check_way(&all, SOME_CPU);
	crit_scheduling_leave_cpu(1u << 30); /* no machine has it */
	check_allowed(&all);

	/* who was told to leave none does not undo what others said meanwhile */
	crit_scheduling_drain();
	allow(&one);
	crit_scheduling_drain();
	check_allowed(&one);
	return check_done();
}
