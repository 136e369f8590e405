/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tournament tree of cursors: which source comes next by (time, number).
 *
 * Each node has the earliest one of the four below it, which are half a line of the cache.  When a
 * source moves, the nodes from its leaf to the root are decided anew, without a jump: only one
 * comparison a level has to wait for the one before.
 *
 * So that a comparison is one of 64 bits, a node has the time since a base and, below it, the
 * source.  Times too early or too late for that are kept beside the tree; when one of them comes
 * first there is a new base.
 */
#ifndef CRIT_MERGE_H
#define CRIT_MERGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/array.h"

struct crit_cursor {
	uint64_t time_ns;
	uint32_t source; /* of equal stamps the least comes first */
};

#define CRIT_MERGE_ROOT 3u

struct crit_merge {
	uint64_t *tree; /* 3 is the root, below node i are 4i - 8 to 4i - 5 */
	uint64_t *outer_ns; /* by source: the time, if its leaf has none */
	uint64_t base_ns, end_ns; /* of the times in the tree; end is the first behind them */
	uint32_t source_bits; /* of a node, lowest; the rest: 1 + time - base, or 0 before it */
	uint32_t first_leaf;
	uint32_t row_bits; /* leaves are rows, a power of two, and columns */
	uint32_t columns;
	uint32_t count; /* of sources in it */
};

/* Range: sources below source_count.  Errors: -ENOMEM. */
int crit_merge_init(struct crit_merge *merge, uint32_t source_count);
void crit_merge_fini(struct crit_merge *merge);

void crit_merge_add(struct crit_merge *merge, uint32_t source, uint64_t time_ns);

/* A source's next stamp is another one.  Cost: one comparison per level. */
void crit_merge_delay(struct crit_merge *merge, uint32_t source, uint64_t time_ns);

void crit_merge_remove(struct crit_merge *merge, uint32_t source);

/*
 * The earliest one is not in the tree with its time: finds a new base.  Cost: O(sources), once for
 * 2^(64 - source_bits) ns: of 16,384 sources six days, of a million five hours.
 */
void crit_merge_move_base(struct crit_merge *merge);

/* Neighbours are far apart, so that each subtree has sources of all kinds. */
static inline size_t crit_merge_leaf(const struct crit_merge *merge, uint32_t source)
{
	const uint32_t row = source * 0x9e3779b1u & ((1u << merge->row_bits) - 1);

	return merge->first_leaf + (size_t)row * merge->columns + (source >> merge->row_bits);
}

static inline uint32_t crit_merge_source(const struct crit_merge *merge, uint64_t node)
{
	return (uint32_t)(node & ((1ull << merge->source_bits) - 1));
}

/*
 * All sources lie in part_count parts: the one that comes first in the part of this one, mostly one
 * of the next part_count of all.  Without one: a number of no source.  Range: part_count a power of
 * two.  A part is a node, or half of the four below one.
 */
static inline uint32_t crit_merge_soon(const struct crit_merge *merge, uint32_t source,
				       uint32_t part_count)
{
	const uint32_t is_half = (uint32_t)__builtin_ctz(part_count) & 1;
	const size_t below = (4 * (part_count << is_half) - 1) / 3 + CRIT_MERGE_ROOT;
	const uint64_t *tree = merge->tree;
	size_t node = crit_merge_leaf(merge, source);

	while (node >= below)
		node = node / 4 + 2;
	return crit_merge_source(merge, is_half && tree[node ^ 1] < tree[node] ? tree[node ^ 1]
									       : tree[node]);
}

/* Fetches ahead what a move of this source is written to. */
static inline void crit_merge_fetch(const struct crit_merge *merge, uint32_t source)
{
	const size_t leaf = crit_merge_leaf(merge, source);

	__builtin_prefetch(&merge->tree[leaf], 1);
	__builtin_prefetch(&merge->tree[leaf / 4 + 2], 1);
}

/* The earliest cursor; if there is none, behind all times and CRIT_NONE. */
static inline struct crit_cursor crit_merge_first(struct crit_merge *merge)
{
	const uint64_t *root = &merge->tree[CRIT_MERGE_ROOT];
	uint64_t since = (*root >> merge->source_bits) - 1;

	if (since >= merge->end_ns - merge->base_ns) {
		if (!merge->count)
			return (struct crit_cursor){ UINT64_MAX, CRIT_NONE };
		crit_merge_move_base(merge);
		since = 0;
	}
	return (struct crit_cursor){ merge->base_ns + since, crit_merge_source(merge, *root) };
}

#endif
