// SPDX-License-Identifier: BSD-3-Clause
// Stamps of spans beside the clock they are of, of a thread that changes CPUs.
#include <sched.h>
#include <time.h>

#include "core/shim/shim_process.h"
#include "core/shim/shim_span.h"
#include "tests/lib/check.h"
#include "tests/shim/fake_critd.h"

/* To another CPU, if there is one. */
static void move(const cpu_set_t *usable, int *cpu)
{
	cpu_set_t one;

	do
		*cpu = (*cpu + 1) % CPU_SETSIZE;
	while (!CPU_ISSET(*cpu, usable));
	CPU_ZERO(&one);
	CPU_SET(*cpu, &one);
	CHECK_INT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
}

static void test_clock(void)
{
	unsigned int samples = 0, far = 0;
	uint64_t last_ns = 0;
	cpu_set_t usable;
	int cpu = 0;

	CHECK_CASE("clock");
	CHECK_INT_EQ(sched_getaffinity(0, sizeof(usable), &usable), 0);
	for (int i = 0; i < 300000; i++) {
		struct timespec before, after;
		uint64_t now_ns, least_ns, most_ns;

		if (i % 1000 == 0)
			move(&usable, &cpu);
		(void)clock_gettime(CLOCK_MONOTONIC, &before);
		now_ns = crit_shim_now_ns();
		(void)clock_gettime(CLOCK_MONOTONIC, &after);
		least_ns = (uint64_t)before.tv_sec * 1000000000 + (uint64_t)before.tv_nsec;
		most_ns = (uint64_t)after.tv_sec * 1000000000 + (uint64_t)after.tv_nsec;
		if (now_ns < last_ns)
			CHECK_MSG(false, "the clock went back by %llu ns",
				  (unsigned long long)(last_ns - now_ns));
		last_ns = now_ns;
		samples++;
		far += now_ns + 200 < least_ns || now_ns > most_ns + 200;
	}
	CHECK_INT_LE(far, samples / 1000);
	CHECK_INT_EQ(sched_setaffinity(0, sizeof(usable), &usable), 0);
}

int main(void)
{
	static struct fake_critd fake;

	fake_critd_start(&fake);
	if (CHECK(crit_shim_start(CRIT_FLAVOUR_OPENMPI)))
		test_clock();
	fake_critd_stop(&fake);
	return check_done();
}
