// SPDX-License-Identifier: BSD-3-Clause
// Groups are runs of equal items after a sort, or what an index finds under a hash.
#include "analysis/table/group_by.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/array.h"

static void add_sorted(const struct crit_grouping *grouping, char *items, size_t count, char *rows,
		       size_t *ret_count)
{
	const char *item = items;
	char *row = rows;
	size_t used = 0;

	if (count)
		qsort(items, count, grouping->item_bytes, grouping->compare);
	for (size_t i = 0; i < count; i++, item += grouping->item_bytes) {
		if (!i || grouping->compare(item - grouping->item_bytes, item)) {
			row = rows + used++ * grouping->row_bytes;
			grouping->begin(row, item);
		}
		grouping->add(row, item);
	}
	*ret_count = used;
}

/* firsts: of each row its first item.  Errors: -ENOMEM. */
static int add_hashed(const struct crit_grouping *grouping, const char *items, size_t count,
		      char *rows, const char **firsts, size_t *ret_count)
{
	struct crit_index index = { 0 };
	const char *item = items;
	uint32_t used = 0;
	int rc = 0;

	for (size_t i = 0; i < count && !rc; i++, item += grouping->item_bytes) {
		const uint64_t hash = grouping->hash(item);
		struct crit_probe probe;
		uint32_t row = crit_index_first(&index, hash, &probe);

		while (row != CRIT_NONE && grouping->compare(firsts[row], item))
			row = crit_index_next(&index, &probe);
		if (row == CRIT_NONE) {
			row = used++;
			firsts[row] = item;
			grouping->begin(rows + row * grouping->row_bytes, item);
			rc = crit_index_put(&index, hash, row);
		}
		grouping->add(rows + row * grouping->row_bytes, item);
	}
	crit_index_fini(&index);
	*ret_count = used;
	return rc;
}

void *crit_group_by(const struct crit_grouping *grouping, void *items, size_t count,
		    size_t *ret_count)
{
	char *rows = crit_lines_alloc(count + 1, grouping->row_bytes);
	const char **firsts = grouping->hash ? calloc(count + 1, sizeof(*firsts)) : NULL;
	int rc = 0;

	if (rows && firsts)
		rc = add_hashed(grouping, items, count, rows, firsts, ret_count);
	else if (rows && !grouping->hash)
		add_sorted(grouping, items, count, rows, ret_count);
	if (rc || (grouping->hash && !firsts)) {
		free(rows);
		rows = NULL;
	}
	free(firsts);
	return rows;
}

int crit_groups_begin(struct crit_groups *groups, const struct crit_grouping *grouping,
		      size_t count_max)
{
	*groups = (struct crit_groups){
		.grouping = grouping,
		.rows = crit_lines_room(count_max + 1, grouping->row_bytes),
	};
	return groups->rows ? 0 : -ENOMEM;
}

int crit_groups_put(struct crit_groups *groups, const void *row)
{
	const struct crit_grouping *grouping = groups->grouping;
	const uint64_t hash = grouping->hash(row);
	struct crit_probe probe;
	uint32_t found = crit_index_first(&groups->index, hash, &probe);
	int rc = 0;

	while (found != CRIT_NONE &&
	       grouping->compare(groups->rows + found * grouping->row_bytes, row))
		found = crit_index_next(&groups->index, &probe);
	if (found == CRIT_NONE) {
		found = (uint32_t)groups->count++;
		grouping->begin(groups->rows + found * grouping->row_bytes, row);
		rc = crit_index_put(&groups->index, hash, found);
	}
	grouping->add(groups->rows + found * grouping->row_bytes, row);
	return rc;
}

void *crit_groups_end(struct crit_groups *groups, size_t *ret_count)
{
	crit_index_fini(&groups->index);
	*ret_count = groups->count;
	return groups->rows;
}
