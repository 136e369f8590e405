// SPDX-License-Identifier: BSD-3-Clause
// Groups are runs of equal items after a sort.
#include "analysis/table/group_by.h"

#include <stdlib.h>

#include "core/base/array.h"

void *crit_group_by(const struct crit_grouping *grouping, void *items, size_t count,
		    size_t *ret_count)
{
	char *rows = crit_lines_alloc(count + 1, grouping->row_bytes);
	char *row = rows;
	const char *item = items;
	size_t used = 0;

	if (!rows)
		return NULL;
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
	return rows;
}
