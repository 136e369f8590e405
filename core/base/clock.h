/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the system's clocks, and pauses. */
#ifndef CRIT_CLOCK_H
#define CRIT_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Units: ns.  Range: a clock that cannot fail, such as CLOCK_MONOTONIC. */
static inline uint64_t crit_clock_ns(clockid_t clock)
{
	struct timespec now;

	(void)clock_gettime(clock, &now); /* cannot fail for the clocks used here */
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* CLOCK_MONOTONIC with a sign, as differences to deadlines have one.  Units: ns. */
static inline int64_t crit_clock_monotonic_ns(void)
{
	return (int64_t)crit_clock_ns(CLOCK_MONOTONIC);
}

/* CLOCK_MONOTONIC in ms, for deadlines. */
static inline uint64_t crit_clock_ms(void)
{
	return crit_clock_ns(CLOCK_MONOTONIC) / 1000000u;
}

#ifdef CRIT_SKEWS_CLOCKS /* tests/lib/skewed_clock.c; never in what is installed */
uint64_t crit_clock_bend(uint64_t host_ns);
#else
/* A stamp of the host's clock as it goes into a recording; test builds inject clock skew here. */
static inline uint64_t crit_clock_bend(uint64_t host_ns)
{
	return host_ns;
}
#endif

/* Sleeps; a signal ends it early.  Range: below 1 s. */
static inline void crit_clock_pause_ns(long pause_ns)
{
	const struct timespec pause = { .tv_nsec = pause_ns };

	(void)nanosleep(&pause, NULL); /* callers look at what they wait for */
}

/*
 * What to add to this process's CLOCK_MONOTONIC to get the host's; 0 outside time namespaces.
 * Units: ns.  Errors: none; where the kernel knows no time namespaces there is no offset.
 * Cost: reads a file of /proc.
 */
int64_t crit_clock_host_offset_ns(void);

#endif
