// SPDX-License-Identifier: BSD-3-Clause
// Tournament tree that merges sources by time.
#include "analysis/replay/merge.h"

#include <errno.h>
#include <stdlib.h>

static const crit_merge_key absent = ~(crit_merge_key)0;

static inline crit_merge_key key_of(uint32_t order, uint64_t time_ns)
{
	return (crit_merge_key)time_ns << 32 | order;
}

static void set(struct crit_merge *merge, uint32_t order, crit_merge_key earliest)
{
	crit_merge_key *tree = merge->tree;

	for (size_t node = (size_t)merge->leaf_count + order; node > 1; node /= 2) {
		crit_merge_key other = tree[node ^ 1];

		tree[node] = earliest;
		earliest = other < earliest ? other : earliest;
	}
	tree[1] = earliest;
}

int crit_merge_init(struct crit_merge *merge, uint32_t order_count)
{
	*merge = (struct crit_merge){ .leaf_count = 1 };
	while (merge->leaf_count < order_count)
		merge->leaf_count *= 2;
	merge->tree = malloc(2 * (size_t)merge->leaf_count * sizeof(*merge->tree));
	if (!merge->tree)
		return -ENOMEM;
	for (size_t i = 0; i < 2 * (size_t)merge->leaf_count; i++)
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
