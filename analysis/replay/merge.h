/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tournament tree of cursors: which source comes next by (time, order).
 *
 * Each node has the earliest one of the four below it, which are one line of the cache.  When a
 * source moves, the nodes from its leaf to the root are decided anew, without a jump: only one
 * comparison a level has to wait for the one before.
 */
#ifndef CRIT_MERGE_H
#define CRIT_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct crit_cursor {
	uint64_t time_ns;
	uint32_t order; /* of equal stamps: a source's fixed number */
};

/* time_ns << 32 | order: one comparison without a jump */
__extension__ typedef unsigned __int128 crit_merge_key;

#define CRIT_MERGE_ROOT 3u

struct crit_merge {
	crit_merge_key *tree; /* 3 is the root, below node i are 4i - 8 to 4i - 5 */
	uint32_t first_leaf;
	uint32_t row_bits; /* leaves are rows, a power of two, and columns */
	uint32_t columns;
	uint32_t count; /* of sources in it */
};

/* Range: orders below order_count.  Errors: -ENOMEM. */
int crit_merge_init(struct crit_merge *merge, uint32_t order_count);
void crit_merge_fini(struct crit_merge *merge);

void crit_merge_add(struct crit_merge *merge, uint32_t order, uint64_t time_ns);

/* A source's next stamp is another one.  Cost: one comparison per level. */
void crit_merge_delay(struct crit_merge *merge, uint32_t order, uint64_t time_ns);

void crit_merge_remove(struct crit_merge *merge, uint32_t order);

/* Neighbours are far apart, so that each subtree has sources of all kinds. */
static inline size_t crit_merge_leaf(const struct crit_merge *merge, uint32_t order)
{
	const uint32_t row = order * 0x9e3779b1u & ((1u << merge->row_bits) - 1);

	return merge->first_leaf + (size_t)row * merge->columns + (order >> merge->row_bits);
}

/*
 * All sources lie in part_count parts: the one that comes first in the part of this one, mostly one
 * of the next part_count of all.  CRIT_NONE: no more there.  Range: part_count a power of two.  A
 * part is a node, or half of the four below one.
 */
static inline uint32_t crit_merge_soon(const struct crit_merge *merge, uint32_t order,
				       uint32_t part_count)
{
	const uint32_t is_half = (uint32_t)__builtin_ctz(part_count) & 1;
	const size_t below = (4 * (part_count << is_half) - 1) / 3 + CRIT_MERGE_ROOT;
	const crit_merge_key *tree = merge->tree;
	size_t node = crit_merge_leaf(merge, order);

	while (node >= below)
		node = node / 4 + 2;
	return (uint32_t)(is_half && tree[node ^ 1] < tree[node] ? tree[node ^ 1] : tree[node]);
}

/* Fetches ahead what a move of this source is written to. */
static inline void crit_merge_fetch(const struct crit_merge *merge, uint32_t order)
{
	const size_t leaf = crit_merge_leaf(merge, order);

	__builtin_prefetch(&merge->tree[leaf], 1);
	__builtin_prefetch(&merge->tree[leaf / 4 + 2], 1);
}

/* The earliest cursor.  Range: count is not 0. */
static inline struct crit_cursor crit_merge_first(const struct crit_merge *merge)
{
	return (struct crit_cursor){ (uint64_t)(merge->tree[CRIT_MERGE_ROOT] >> 32),
				     (uint32_t)merge->tree[CRIT_MERGE_ROOT] };
}

#endif
