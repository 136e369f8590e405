/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hashes of numbers and of texts: the same in every process and version, since recordings, names of
 * sockets and names of directories hold them.
 */
#ifndef CRIT_HASH_H
#define CRIT_HASH_H

#include <stddef.h>
#include <stdint.h>

#define CRIT_HASH_EMPTY 0xcbf29ce484222325ull /* of no bytes */

#define CRIT_HASH_GOLDEN 0x9e3779b97f4a7c15ull /* 2^64 divided by the golden ratio, odd */

/*
 * Takes value into hash, 0 at first; the order of the values counts.  A first value in place of the
 * 0 saves a step where the two differ in other bits: else 1 with 2 has the hash of 2 with 1.
 */
static inline uint64_t crit_hash_mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * CRIT_HASH_GOLDEN;
	return hash ^ hash >> 29;
}

/*
 * 32 bits of which each depends on all of value, for the cells of a table in memory: ranks and
 * threads lie side by side in keys, and whatever bits a table leaves out must not tell them apart.
 */
static inline uint32_t crit_hash_cell(uint64_t value)
{
	return (uint32_t)((value ^ value >> 32) * CRIT_HASH_GOLDEN >> 32);
}

/* Takes bytes into hash, CRIT_HASH_EMPTY at first.  Source: FNV-1a, 64 bits. */
static inline uint64_t crit_hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < count; i++)
		hash = (hash ^ at[i]) * 0x100000001b3ull;
	return hash;
}

/* The hash of a text without its terminating zero. */
static inline uint64_t crit_hash_text(const char *text)
{
	uint64_t hash = CRIT_HASH_EMPTY;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
	return hash;
}

/* Which of count places a hash belongs to, by its upper half.  Range: count below 2^32. */
static inline uint32_t crit_hash_place(uint64_t hash, uint64_t count)
{
	return (uint32_t)((hash >> 32) * count >> 32);
}

#endif
