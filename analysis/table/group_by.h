/* SPDX-License-Identifier: BSD-3-Clause */
/* One row per group of items with the same key, which adds them up. */
#ifndef CRIT_GROUP_BY_H
#define CRIT_GROUP_BY_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/index.h"

struct crit_grouping {
	size_t item_bytes;
	size_t row_bytes;
	int (*compare)(const void *left, const void *right); /* two items; 0: of one group */
	/* gives a row its key: one of zeros, or all of it where rows come one by one */
	void (*begin)(void *row, const void *item);
	void (*add)(void *row, const void *item); /* adds an item, the first one as well */
	uint64_t (*hash)(const void *item); /* the same for items of a group; NULL: sort them */
};

/*
 * Rows in the order of compare, or with a hash in that of each group's first item; a row's items
 * are added as they came.  Ownership: items stay the caller's, sorted without a hash; the caller
 * frees the rows.  Errors: NULL when there is no memory.  Cost: O(count log count), with a hash
 * O(count).
 */
void *crit_group_by(const struct crit_grouping *grouping, void *items, size_t count,
		    size_t *ret_count);

/* Groups of rows that come one by one, and are not kept: the row of a group is its first one. */
struct crit_groups {
	const struct crit_grouping *grouping; /* with a hash, of items that are rows */
	char *rows; /* in the order of each group's first item */
	size_t count;
	struct crit_index index;
};

/* Range: at most so many groups.  Ownership: see end.  Errors: -ENOMEM; end all the same. */
int crit_groups_begin(struct crit_groups *groups, const struct crit_grouping *grouping,
		      size_t count_max);
/* Errors: -ENOMEM.  Cost: O(1). */
int crit_groups_put(struct crit_groups *groups, const void *row);
/* Ownership: the caller frees the rows. */
void *crit_groups_end(struct crit_groups *groups, size_t *ret_count);

#endif
