/* SPDX-License-Identifier: BSD-3-Clause */
/* The one clock of a recording, as critd reads it. */
#ifndef CRIT_COLLECTOR_CLOCK_H
#define CRIT_COLLECTOR_CLOCK_H

#include <linux/types.h>
#include <time.h>

static inline __u64 crit_clock_ns(clockid_t clock)
{
	struct timespec ts;

	(void)clock_gettime(clock, &ts); /* cannot fail for the clocks used here */
	return (__u64)ts.tv_sec * 1000000000ull + (__u64)ts.tv_nsec;
}

/* Host CLOCK_MONOTONIC, once crit_now_init has asked for the time namespace's offset. */
__u64 crit_now_ns(void);
void crit_now_init(void);

#endif
