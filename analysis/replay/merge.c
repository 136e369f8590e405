// SPDX-License-Identifier: BSD-3-Clause
// Tournament tree that merges sources by time.
#include "analysis/replay/merge.h"

#include <errno.h>
#include <stdlib.h>

#define LEAST_COLUMNS 16u /* so that few leaves stay empty */
#define ABSENT UINT64_MAX

static inline uint64_t key_of(const struct crit_merge *merge, uint32_t source, uint64_t time_ns)
{
	uint64_t since = time_ns - merge->base_ns + 1;

	if (time_ns < merge->base_ns || time_ns >= merge->end_ns) {
		merge->outer_ns[source] = time_ns;
		since = time_ns < merge->base_ns ? 0 : UINT64_MAX >> merge->source_bits;
	}
	return since << merge->source_bits | source;
}

static uint64_t time_of(const struct crit_merge *merge, uint64_t key)
{
	const uint64_t since = (key >> merge->source_bits) - 1;

	return since < merge->end_ns - merge->base_ns
		       ? merge->base_ns + since
		       : merge->outer_ns[crit_merge_source(merge, key)];
}

static inline uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t others(const uint64_t *tree, size_t node)
{
	return min(min(tree[node ^ 1], tree[node ^ 2]), tree[node ^ 3]);
}

static void set(struct crit_merge *merge, uint32_t source, uint64_t earliest)
{
	uint64_t *tree = merge->tree;

	for (size_t node = crit_merge_leaf(merge, source); node > CRIT_MERGE_ROOT;
	     node = node / 4 + 2) {
		const uint64_t first = others(tree, node);

		tree[node] = earliest;
		earliest = min(first, earliest);
	}
	tree[CRIT_MERGE_ROOT] = earliest;
}

static void set_base(struct crit_merge *merge, uint64_t time_ns)
{
	const uint64_t last = (UINT64_MAX >> merge->source_bits) - 1;

	merge->base_ns = time_ns;
	merge->end_ns = last < UINT64_MAX - time_ns ? time_ns + last : UINT64_MAX;
}

int crit_merge_init(struct crit_merge *merge, uint32_t source_count)
{
	size_t leaves, inner, nodes;

	*merge = (struct crit_merge){ .columns = 1, .source_bits = 1 };
	while (source_count >> merge->source_bits)
		merge->source_bits++;
	while (source_count >> merge->row_bits > LEAST_COLUMNS)
		merge->row_bits++;
	merge->columns = (source_count >> merge->row_bits) + 1;
	leaves = (size_t)merge->columns << merge->row_bits;
	inner = (leaves + 1) / 3;
	merge->first_leaf = (uint32_t)(CRIT_MERGE_ROOT + inner);
	nodes = (merge->first_leaf + leaves + 3) & ~(size_t)3;
	merge->tree = crit_lines_room(nodes, sizeof(*merge->tree));
	merge->outer_ns = crit_lines_room(source_count + 1ull, sizeof(*merge->outer_ns));
	if (!merge->tree || !merge->outer_ns)
		return -ENOMEM;
	for (size_t i = 0; i < nodes; i++)
		merge->tree[i] = ABSENT;
	return 0;
}

void crit_merge_fini(struct crit_merge *merge)
{
	free(merge->tree);
	free(merge->outer_ns);
	merge->tree = NULL;
	merge->outer_ns = NULL;
}

void crit_merge_add(struct crit_merge *merge, uint32_t source, uint64_t time_ns)
{
	if (!merge->count++)
		set_base(merge, time_ns);
	set(merge, source, key_of(merge, source, time_ns));
}

void crit_merge_delay(struct crit_merge *merge, uint32_t source, uint64_t time_ns)
{
	set(merge, source, key_of(merge, source, time_ns));
}

void crit_merge_remove(struct crit_merge *merge, uint32_t source)
{
	merge->count--;
	set(merge, source, ABSENT);
}

void crit_merge_move_base(struct crit_merge *merge)
{
	const struct crit_merge before = *merge;
	const size_t leaves = (size_t)merge->columns << merge->row_bits;
	uint64_t *tree = merge->tree, base_ns = UINT64_MAX;

	for (size_t i = merge->first_leaf; i < merge->first_leaf + leaves; i++)
		if (tree[i] != ABSENT)
			base_ns = min(base_ns, time_of(&before, tree[i]));
	set_base(merge, base_ns);
	for (size_t i = merge->first_leaf; i < merge->first_leaf + leaves; i++)
		if (tree[i] != ABSENT)
			tree[i] = key_of(merge, crit_merge_source(merge, tree[i]),
					 time_of(&before, tree[i]));
	for (size_t i = merge->first_leaf; i-- > CRIT_MERGE_ROOT;)
		tree[i] = min(min(tree[4 * i - 8], tree[4 * i - 7]),
			      min(tree[4 * i - 6], tree[4 * i - 5]));
}
