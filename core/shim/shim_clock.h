/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread's clock on the hot path. */
#ifndef CRIT_SHIM_CLOCK_H
#define CRIT_SHIM_CLOCK_H

#include "core/shim/shim_state.h"

/* Finds out what stamps are made of, once. */
CRIT_HIDDEN void crit_clock_init(void);

/* A stamp by clock_gettime, from which later ones are carried on. */
CRIT_HIDDEN uint64_t crit_clock_anchor(struct crit_clock *clock);

static inline uint64_t crit_clock_cycles(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	return 0;
#endif
}

/*
 * Units: ns of the host's CLOCK_MONOTONIC, never smaller than the stamp before it.
 * Cost: one reading of the cycle counter; every millisecond one of clock_gettime more.
 */
static inline uint64_t crit_clock_now_ns(struct crit_clock *clock)
{
	uint64_t passed = crit_clock_cycles() - clock->anchor_cycles;
	uint64_t now_ns;

	if (__builtin_expect(passed >= clock->limit_cycles, 0))
		return crit_clock_anchor(clock);
	now_ns = clock->anchor_ns + (passed * clock->scale >> 32);
	if (now_ns < clock->last_ns)
		now_ns = clock->last_ns;
	clock->last_ns = now_ns;
	return now_ns;
}

#endif
