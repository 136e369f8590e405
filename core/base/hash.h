/* SPDX-License-Identifier: BSD-3-Clause */
/* A number made of several: the same in every process, for recordings compare it. */
#ifndef CRIT_HASH_H
#define CRIT_HASH_H

#include <stdint.h>

/* Takes value into hash; the order of the values counts. */
static inline uint64_t crit_hash_mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
	return hash ^ hash >> 29;
}

#endif
