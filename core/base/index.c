// SPDX-License-Identifier: BSD-3-Clause
// Hash index of rows: grows, and removes entries.
#include "core/base/index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_FIRST 64u

static void put(struct crit_index *index, struct crit_index_cell cell)
{
	size_t at = cell.hash & (index->size - 1);

	while (index->cells[at].row != CRIT_NONE)
		at = (at + 1) & (index->size - 1);
	index->cells[at] = cell;
}

/* In the order of the old cells, from behind an empty one: equal hashes keep their order. */
static void put_all(struct crit_index *index, const struct crit_index *old)
{
	size_t start = 0;

	while (start < old->size && old->cells[start].row != CRIT_NONE)
		start++;
	for (size_t i = 0; i < old->size; i++) {
		const struct crit_index_cell *cell = &old->cells[(start + i) & (old->size - 1)];

		if (cell->row != CRIT_NONE)
			put(index, *cell);
	}
}

static int enlarge(struct crit_index *index)
{
	struct crit_index bigger = { .size = index->size ? index->size * 2 : SIZE_FIRST,
				     .count = index->count };

	bigger.cells = crit_lines_room(bigger.size, sizeof(*bigger.cells));
	if (!bigger.cells)
		return -ENOMEM;
	memset(bigger.cells, 0xff, bigger.size * sizeof(*bigger.cells)); /* CRIT_NONE */
	put_all(&bigger, index);
	free(index->cells);
	*index = bigger;
	return 0;
}

int crit_index_put(struct crit_index *index, uint64_t hash, uint32_t row)
{
	if (index->count * 2 >= index->size) {
		int rc = enlarge(index);

		if (rc)
			return rc;
	}
	put(index, (struct crit_index_cell){ .hash = crit_hash_cell(hash), .row = row });
	index->count++;
	return 0;
}

/* An entry behind the gap that would not be found any more moves into it. */
void crit_index_remove(struct crit_index *index, const struct crit_probe *probe)
{
	const size_t mask = index->size - 1;
	size_t gap = probe->at;

	for (size_t at = (gap + 1) & mask; index->cells[at].row != CRIT_NONE;
	     at = (at + 1) & mask) {
		const size_t home = index->cells[at].hash & mask;

		if (((at - home) & mask) >= ((at - gap) & mask)) {
			index->cells[gap] = index->cells[at];
			gap = at;
		}
	}
	index->cells[gap].row = CRIT_NONE;
	index->count--;
}

void crit_index_forget(struct crit_index *index, uint64_t hash, uint32_t row)
{
	struct crit_probe probe;
	uint32_t found = crit_index_first(index, hash, &probe);

	while (found != CRIT_NONE && found != row)
		found = crit_index_next(index, &probe);
	if (found != CRIT_NONE)
		crit_index_remove(index, &probe);
}

void crit_index_fini(struct crit_index *index)
{
	free(index->cells);
	*index = (struct crit_index){ 0 };
}
