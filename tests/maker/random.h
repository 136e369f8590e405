/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers that are the same everywhere, so that a printed seed repeats a case. */
#ifndef CRIT_TESTS_RANDOM_H
#define CRIT_TESTS_RANDOM_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

struct crit_random {
	uint64_t state;
};

static inline uint64_t crit_random_next(struct crit_random *r) /* splitmix64 */
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* Range: 0 .. bound-1; bound at least 1. */
static inline uint64_t crit_random_below(struct crit_random *r, uint64_t bound)
{
	return crit_random_next(r) % bound;
}

static inline bool crit_random_is(struct crit_random *r, unsigned int percent)
{
	return crit_random_below(r, 100) < percent;
}

/* Exponential with a heavy tail: one in 64 is a hundred times longer.  Range: at least 1. */
static inline uint64_t crit_random_wait_ns(struct crit_random *r, uint64_t mean_ns)
{
	double u = (double)(crit_random_next(r) >> 11) * 0x1p-53;
	double wait = -log(1 - u) * (double)mean_ns;

	if (crit_random_is(r, 2))
		wait *= 100;
	return 1 + (uint64_t)wait;
}

#endif
