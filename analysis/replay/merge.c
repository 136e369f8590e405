// SPDX-License-Identifier: BSD-3-Clause
// Binary heap that merges sources by time.
#include "analysis/replay/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"

static inline bool is_before(struct crit_cursor a, struct crit_cursor b)
{
	return a.time_ns < b.time_ns || (a.time_ns == b.time_ns && a.order < b.order);
}

static inline void put(struct crit_merge *merge, uint32_t place, struct crit_cursor cursor)
{
	merge->heap[place] = cursor;
	merge->place[cursor.order] = place;
}

static void sink(struct crit_merge *merge, uint32_t place, struct crit_cursor cursor)
{
	for (;;) {
		uint32_t child = 2 * place + 1;

		if (child >= merge->count)
			break;
		if (child + 1 < merge->count &&
		    is_before(merge->heap[child + 1], merge->heap[child]))
			child++;
		if (!is_before(merge->heap[child], cursor))
			break;
		put(merge, place, merge->heap[child]);
		place = child;
	}
	put(merge, place, cursor);
}

static void rise(struct crit_merge *merge, uint32_t place, struct crit_cursor cursor)
{
	while (place && is_before(cursor, merge->heap[(place - 1) / 2])) {
		put(merge, place, merge->heap[(place - 1) / 2]);
		place = (place - 1) / 2;
	}
	put(merge, place, cursor);
}

int crit_merge_init(struct crit_merge *merge, uint32_t order_count)
{
	*merge = (struct crit_merge){ 0 };
	merge->heap = calloc(order_count, sizeof(*merge->heap));
	merge->place = malloc(order_count * sizeof(*merge->place));
	if (!merge->heap || !merge->place) {
		crit_merge_fini(merge);
		return -ENOMEM;
	}
	memset(merge->place, 0xff, order_count * sizeof(*merge->place));
	return 0;
}

void crit_merge_fini(struct crit_merge *merge)
{
	free(merge->heap);
	free(merge->place);
	merge->heap = NULL;
	merge->place = NULL;
}

void crit_merge_add(struct crit_merge *merge, uint32_t order, uint64_t time_ns)
{
	rise(merge, merge->count++, (struct crit_cursor){ time_ns, order });
}

void crit_merge_delay(struct crit_merge *merge, uint32_t order, uint64_t time_ns)
{
	sink(merge, merge->place[order], (struct crit_cursor){ time_ns, order });
}

void crit_merge_remove(struct crit_merge *merge, uint32_t order)
{
	uint32_t place = merge->place[order];
	struct crit_cursor last = merge->heap[--merge->count];

	merge->place[order] = CRIT_NONE;
	if (place == merge->count)
		return;
	if (place && is_before(last, merge->heap[(place - 1) / 2]))
		rise(merge, place, last);
	else
		sink(merge, place, last);
}
