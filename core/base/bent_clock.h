/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the clock is read, a test build may bend it: a node that is elsewhere in time. */
#ifndef CRIT_BENT_CLOCK_H
#define CRIT_BENT_CLOCK_H

#include <stdint.h>

#ifdef CRIT_BENDS_CLOCKS /* tests/lib/bent_clock.c; never in what is installed */
uint64_t crit_clock_bend(uint64_t host_ns);
#else
static inline uint64_t crit_clock_bend(uint64_t host_ns)
{
	return host_ns;
}
#endif

#endif
