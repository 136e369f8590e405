// SPDX-License-Identifier: BSD-3-Clause
// Table of OpenMP regions and phases of all processes.
#include "analysis/account/regions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"

int64_t crit_regions_get(struct crit_regions *regions, uint32_t process, uint32_t number)
{
	uint64_t key = (uint64_t)process << 32 | number;
	uint32_t index;
	int rc;

	if (!number || number >= CRIT_REGIONS_MAX)
		return -ENOENT;
	index = crit_map_get(&regions->places, key);
	if (index != CRIT_NONE)
		return index;
	rc = crit_array_grow(&regions->rows, &regions->capacity, regions->count + 1,
			     sizeof(*regions->rows));
	if (!rc)
		rc = crit_map_set(&regions->places, key, (uint32_t)regions->count);
	if (rc)
		return rc;
	regions->rows[regions->count] =
		(struct crit_region){ .process = process, .number = number };
	return (int64_t)regions->count++;
}

/* Who is begun in a region has the larger number: foreign definitions cannot make a circle. */
int crit_regions_define(struct crit_regions *regions, uint32_t process,
			const struct crit_slot_region *slot, const char *name, size_t name_bytes)
{
	int64_t index = crit_regions_get(regions, process, slot->region);
	struct crit_region *row;

	if (index < 0)
		return index == -ENOENT ? 0 : (int)index;
	row = &regions->rows[index];
	if (row->call)
		return 0;
	if (name_bytes) {
		row->name = strndup(name, name_bytes);
		if (!row->name)
			return -ENOMEM;
	}
	row->call = slot->call & 1023u;
	row->site = slot->site;
	row->caller = slot->caller;
	row->parent = slot->parent < slot->region ? slot->parent : 0;
	return 0;
}

uint64_t crit_regions_call_site(const struct crit_regions *regions, uint32_t process,
				uint32_t number)
{
	uint64_t site = 0;

	while (number && !site) { /* a parent has the smaller number */
		uint32_t row = crit_map_get(&regions->places, (uint64_t)process << 32 | number);

		site = row == CRIT_NONE ? 0 : regions->rows[row].site;
		number = row == CRIT_NONE ? 0 : regions->rows[row].parent;
	}
	return site;
}

void crit_regions_fini(struct crit_regions *regions)
{
	for (size_t i = 0; i < regions->count; i++)
		free(regions->rows[i].name);
	free(regions->rows);
	crit_map_fini(&regions->places);
	*regions = (struct crit_regions){ 0 };
}
