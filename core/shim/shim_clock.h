/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread's clock on the hot path. */
#ifndef CRIT_SHIM_CLOCK_H
#define CRIT_SHIM_CLOCK_H

#include "core/shim/shim_state.h"

/* Finds out what stamps are made of, once. */
CRIT_HIDDEN void crit_clock_init(void);

/* A stamp by clock_gettime, from which later ones are carried on. */
CRIT_HIDDEN uint64_t crit_clock_anchor(struct crit_clock *clock);

/*
 * The stamp of a reading of the counter, after which no stamp was taken but by a new anchor.
 * Range: the counter carried the clock then.
 */
CRIT_HIDDEN uint64_t crit_clock_past_ns(struct crit_clock *clock, uint64_t cycles);

static inline uint64_t crit_clock_cycles(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	return 0;
#endif
}

/* Does the counter carry the clock, as far as known? */
static inline bool crit_clock_counts(const struct crit_clock *clock)
{
	return clock->limit_cycles != 0;
}

/* Does the anchor serve for this reading of the counter? */
static inline bool crit_clock_is_fresh(const struct crit_clock *clock, uint64_t cycles)
{
	return cycles - clock->anchor_cycles < clock->limit_cycles;
}

/* The stamp of a reading, but for the order of stamps.  Range: the anchor serves for it. */
static inline uint64_t crit_clock_at(const struct crit_clock *clock, uint64_t cycles)
{
	return clock->anchor_ns + ((cycles - clock->anchor_cycles) * clock->scale >> 32);
}

/*
 * Units: ns of the host's CLOCK_MONOTONIC, never smaller than the stamp before it.
 * Cost: one reading of the cycle counter; every millisecond one of clock_gettime more.
 */
static inline uint64_t crit_clock_now_ns(struct crit_clock *clock)
{
	const uint64_t cycles = crit_clock_cycles();
	uint64_t now_ns;

	if (__builtin_expect(!crit_clock_is_fresh(clock, cycles), 0))
		return crit_clock_anchor(clock);
	now_ns = crit_clock_at(clock, cycles);
	if (now_ns < clock->last_ns)
		now_ns = clock->last_ns;
	clock->last_ns = now_ns;
	return now_ns;
}

#endif
