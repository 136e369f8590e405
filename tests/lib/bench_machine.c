// SPDX-License-Identifier: BSD-3-Clause
// bench-machine: prints the ns of a reading of the clock, as a shim takes it.
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#define READINGS 2000000

static double now_ns(clockid_t clock)
{
	struct timespec now;

	(void)clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

int main(void)
{
	const double before = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	volatile uint64_t sink;

	for (int i = 0; i < READINGS; i++) {
#ifdef __x86_64__
		sink = __builtin_ia32_rdtsc();
#else
		sink = (uint64_t)now_ns(CLOCK_MONOTONIC);
#endif
	}
	(void)sink;
	printf("%.2f\n", (now_ns(CLOCK_PROCESS_CPUTIME_ID) - before) / READINGS);
	return 0;
}
