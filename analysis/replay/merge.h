/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tournament tree of cursors: which source comes next by (time, order).
 *
 * Each node has the earlier one of the two below it.  When a source moves, the nodes from its
 * leaf to the root are decided anew: one comparison a level, none of which decides a jump.
 */
#ifndef CRIT_MERGE_H
#define CRIT_MERGE_H

#include <stdbool.h>
#include <stdint.h>

struct crit_cursor {
	uint64_t time_ns;
	uint32_t order; /* of equal stamps: a source's fixed number */
};

/* time_ns << 32 | order: one comparison without a jump */
__extension__ typedef unsigned __int128 crit_merge_key;

struct crit_merge {
	crit_merge_key *tree; /* 1 is the root, below node i are 2i and 2i + 1 */
	uint32_t leaf_count; /* a power of two: tree[leaf_count + order] is a source's */
	uint32_t count; /* of sources in it */
};

/* Range: orders below order_count.  Errors: -ENOMEM. */
int crit_merge_init(struct crit_merge *merge, uint32_t order_count);
void crit_merge_fini(struct crit_merge *merge);

void crit_merge_add(struct crit_merge *merge, uint32_t order, uint64_t time_ns);

/* A source's next stamp is another one.  Cost: one comparison per level. */
void crit_merge_delay(struct crit_merge *merge, uint32_t order, uint64_t time_ns);

void crit_merge_remove(struct crit_merge *merge, uint32_t order);

/* The earliest cursor.  Range: count is not 0. */
static inline struct crit_cursor crit_merge_first(const struct crit_merge *merge)
{
	return (struct crit_cursor){ (uint64_t)(merge->tree[1] >> 32), (uint32_t)merge->tree[1] };
}

#endif
