/* SPDX-License-Identifier: BSD-3-Clause */
/* A hash from 64-bit keys to table indexes: open addressing, linear probes, no deletion. */
#ifndef CRIT_MAP_H
#define CRIT_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/array.h"
#include "core/base/hash.h"

struct crit_map_cell {
	uint64_t key; /* plus one; 0 is empty */
	uint32_t value;
	uint32_t reserved;
};

struct crit_map {
	struct crit_map_cell *cells;
	size_t size; /* a power of two, or 0 */
	size_t count;
};

static inline size_t crit_map_slot(const struct crit_map *map, uint64_t key)
{
	return crit_hash_cell(key * CRIT_HASH_GOLDEN) & (map->size - 1);
}

/* The value of key, or CRIT_NONE. */
static inline uint32_t crit_map_get(const struct crit_map *map, uint64_t key)
{
	if (!map->size)
		return CRIT_NONE;
	for (size_t slot = crit_map_slot(map, key); map->cells[slot].key;
	     slot = (slot + 1) & (map->size - 1)) {
		if (map->cells[slot].key == key + 1)
			return map->cells[slot].value;
	}
	return CRIT_NONE;
}

/* Sets or replaces the value of key.  Range: key below UINT64_MAX.  Errors: -ENOMEM. */
int crit_map_set(struct crit_map *map, uint64_t key, uint32_t value);

void crit_map_fini(struct crit_map *map);

#endif
