// SPDX-License-Identifier: BSD-3-Clause
// While critd loads it leaves a CPU to who started it, where there is another, and has all again.
#include "collector/system/scheduling.h"

#include <sched.h>
#include <sys/resource.h>

#include "core/base/clock.h"
#include "tests/lib/check.h"

#define CPU_MOST 1024 /* of a cpu_set_t */
#define SOME_CPU 7 /* it need not exist */
#define NO_CPU (1 << 30) /* no machine has it */
#define HURRIED (-20) /* the nice value */
#define PATIENCE_MS 5000

static void allow(const cpu_set_t *cpus)
{
	CHECK_INT_EQ(sched_setaffinity(0, sizeof(*cpus), cpus), 0);
}

static bool is_allowed(const cpu_set_t *wanted)
{
	cpu_set_t now;

	CHECK_INT_EQ(sched_getaffinity(0, sizeof(now), &now), 0);
	return CPU_EQUAL(&now, wanted);
}

/* Leaves the CPU, of these, and comes back. */
static void check_way(const cpu_set_t *allowed, unsigned int cpu)
{
	cpu_set_t others = *allowed;

	CPU_CLR(cpu, &others);
	allow(allowed);
	crit_scheduling_begin((int)cpu);
	CHECK(is_allowed(CPU_COUNT(&others) ? &others : allowed));
	if (CPU_COUNT(&others))
		CHECK(sched_getcpu() != (int)cpu);
	crit_scheduling_drain();
	CHECK(is_allowed(allowed));
}

static bool has_nice(int nice)
{
	return getpriority(PRIO_PROCESS, 0) == nice;
}

/* Who is not done soon has all CPUs again, and, where that is permitted, hurries. */
static void check_bound(const cpu_set_t *allowed, unsigned int cpu)
{
	const int hurried = setpriority(PRIO_PROCESS, 0, HURRIED) ? 0 : HURRIED;

	CHECK_INT_EQ(setpriority(PRIO_PROCESS, 0, 0), 0);
	allow(allowed);
	crit_scheduling_begin((int)cpu);
	CHECK(has_nice(0));
	for (int ms = 0; ms < PATIENCE_MS && !(is_allowed(allowed) && has_nice(hurried)); ms++)
		crit_clock_pause_ns(1000000);
	CHECK(is_allowed(allowed));
	CHECK(has_nice(hurried));
	crit_scheduling_drain();
	CHECK(is_allowed(allowed));
	CHECK(has_nice(hurried));
}

int main(void)
{
	cpu_set_t all, one;

	CHECK_INT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
	for (unsigned int cpu = 0; cpu < CPU_MOST; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		check_bound(&all, cpu);
		check_way(&all, cpu);
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		check_way(&one, cpu); /* the only one */
		check_way(&one, cpu + 1); /* bound to another already */
	}
	check_way(&all, SOME_CPU);
	crit_scheduling_begin(NO_CPU);
	CHECK(is_allowed(&all));
	crit_scheduling_drain();
	crit_scheduling_begin(-1);
	CHECK(is_allowed(&all));
	crit_scheduling_drain();

	/* who left none does not undo what others said meanwhile */
	allow(&one);
	crit_scheduling_drain();
	CHECK(is_allowed(&one));
	return check_done();
}
