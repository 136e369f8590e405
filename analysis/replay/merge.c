// SPDX-License-Identifier: BSD-3-Clause
// Tournament tree that merges sources by time.
#include "analysis/replay/merge.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/array.h"

#define LEAST_COLUMNS 16u /* so that few leaves stay empty */

static const crit_merge_key absent = ~(crit_merge_key)0;

static inline crit_merge_key key_of(uint32_t order, uint64_t time_ns)
{
	return (crit_merge_key)time_ns << 32 | order;
}

static inline crit_merge_key min(crit_merge_key a, crit_merge_key b)
{
	return a < b ? a : b;
}

static void set(struct crit_merge *merge, uint32_t order, crit_merge_key earliest)
{
	crit_merge_key *tree = merge->tree;

	for (size_t node = crit_merge_leaf(merge, order); node > CRIT_MERGE_ROOT;
	     node = node / 4 + 2) {
		const crit_merge_key others =
			min(min(tree[node ^ 1], tree[node ^ 2]), tree[node ^ 3]);

		tree[node] = earliest;
		earliest = min(others, earliest);
	}
	tree[CRIT_MERGE_ROOT] = earliest;
}

int crit_merge_init(struct crit_merge *merge, uint32_t order_count)
{
	size_t leaves, inner, nodes;

	*merge = (struct crit_merge){ .columns = 1 };
	while (order_count >> merge->row_bits > LEAST_COLUMNS)
		merge->row_bits++;
	merge->columns = (order_count >> merge->row_bits) + 1;
	leaves = (size_t)merge->columns << merge->row_bits;
	inner = (leaves + 1) / 3;
	merge->first_leaf = (uint32_t)(CRIT_MERGE_ROOT + inner);
	nodes = (merge->first_leaf + leaves + 3) & ~(size_t)3;
	merge->tree = crit_lines_room(nodes, sizeof(*merge->tree));
	if (!merge->tree)
		return -ENOMEM;
	for (size_t i = 0; i < nodes; i++)
		merge->tree[i] = absent;
	return 0;
}

void crit_merge_fini(struct crit_merge *merge)
{
	free(merge->tree);
	merge->tree = NULL;
}

void crit_merge_add(struct crit_merge *merge, uint32_t order, uint64_t time_ns)
{
	merge->count++;
	set(merge, order, key_of(order, time_ns));
}

void crit_merge_delay(struct crit_merge *merge, uint32_t order, uint64_t time_ns)
{
	set(merge, order, key_of(order, time_ns));
}

void crit_merge_remove(struct crit_merge *merge, uint32_t order)
{
	merge->count--;
	set(merge, order, absent);
}
