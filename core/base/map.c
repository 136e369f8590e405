// SPDX-License-Identifier: BSD-3-Clause
// Hash map from 64-bit keys to table indexes.
#include "core/base/map.h"

#include <errno.h>
#include <stdlib.h>

static void put(struct crit_map *map, uint64_t stored_key, uint32_t value)
{
	size_t slot = crit_map_slot(map, stored_key - 1);

	while (map->cells[slot].key && map->cells[slot].key != stored_key)
		slot = (slot + 1) & (map->size - 1);
	if (!map->cells[slot].key)
		map->count++;
	map->cells[slot].key = stored_key;
	map->cells[slot].value = value;
}

static int enlarge(struct crit_map *map)
{
	struct crit_map bigger = { .size = map->size ? map->size * 2 : 64 };

	bigger.cells = crit_lines_alloc(bigger.size, sizeof(*bigger.cells));
	if (!bigger.cells)
		return -ENOMEM;
	for (size_t i = 0; i < map->size; i++) {
		if (map->cells[i].key)
			put(&bigger, map->cells[i].key, map->cells[i].value);
	}
	free(map->cells);
	*map = bigger;
	return 0;
}

int crit_map_set(struct crit_map *map, uint64_t key, uint32_t value)
{
	if (map->count * 2 >= map->size) {
		int rc = enlarge(map);

		if (rc)
			return rc;
	}
	put(map, key + 1, value);
	return 0;
}

void crit_map_fini(struct crit_map *map)
{
	free(map->cells);
	*map = (struct crit_map){ 0 };
}
