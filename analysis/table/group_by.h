/* SPDX-License-Identifier: BSD-3-Clause */
/* One row per group of items with the same key: sorts items, and adds up those that are equal. */
#ifndef CRIT_GROUP_BY_H
#define CRIT_GROUP_BY_H

#include <stddef.h>

struct crit_grouping {
	size_t item_bytes;
	size_t row_bytes;
	int (*compare)(const void *left, const void *right); /* two items; 0: of one group */
	void (*begin)(void *row, const void *item); /* gives a row of zeros its key */
	void (*add)(void *row, const void *item); /* adds an item, the first one as well */
};

/*
 * Rows in the order of compare.  Ownership: items stay the caller's, sorted; the caller frees the
 * rows.  Errors: NULL when there is no memory.  Cost: O(count log count).
 */
void *crit_group_by(const struct crit_grouping *grouping, void *items, size_t count,
		    size_t *ret_count);

#endif
