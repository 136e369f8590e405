// SPDX-License-Identifier: BSD-3-Clause
// The table of live OpenMP objects: rows, a list of free ones, and an index.
#include "otf2/openmp/live_objects.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/hash.h"

void crit_otf2_live_init(struct crit_otf2_live *live)
{
	*live = (struct crit_otf2_live){ .free = CRIT_NONE };
}

void crit_otf2_live_fini(struct crit_otf2_live *live)
{
	free(live->rows);
	crit_index_fini(&live->newest);
	crit_otf2_live_init(live);
}

static uint64_t hash_of(uint32_t group, uint64_t number)
{
	return crit_hash_mix(number, (uint64_t)group << 40);
}

/* The row of the newest object of a number, or CRIT_NONE. */
static uint32_t find(const struct crit_otf2_live *live, uint32_t group, uint64_t number,
		     struct crit_probe *ret_probe)
{
	uint32_t row = crit_index_first(&live->newest, hash_of(group, number), ret_probe);

	while (row != CRIT_NONE &&
	       (live->rows[row].number != number || live->rows[row].group != group))
		row = crit_index_next(&live->newest, ret_probe);
	return row;
}

struct crit_otf2_object *crit_otf2_live_find(const struct crit_otf2_live *live, uint32_t group,
					     uint64_t number)
{
	struct crit_probe probe;
	uint32_t row = find(live, group, number, &probe);

	return row == CRIT_NONE ? NULL : &live->rows[row];
}

/* Errors: -ENOMEM, -ENOSPC. */
static int take_row(struct crit_otf2_live *live, uint32_t *ret_row)
{
	int rc;

	if (live->free != CRIT_NONE) {
		*ret_row = live->free;
		live->free = live->rows[*ret_row].older;
		return 0;
	}
	if (live->count >= CRIT_OTF2_LIVE_MAX)
		return -ENOSPC;
	rc = crit_array_grow(&live->rows, &live->capacity, live->count + 1, sizeof(*live->rows));
	if (!rc)
		*ret_row = (uint32_t)live->count++;
	return rc;
}

static void free_row(struct crit_otf2_live *live, uint32_t row)
{
	live->rows[row] = (struct crit_otf2_object){ .older = live->free };
	live->free = row;
}

int crit_otf2_live_add(struct crit_otf2_live *live, uint32_t group, uint64_t number,
		       struct crit_otf2_object **ret_object)
{
	struct crit_probe probe;
	uint32_t older = find(live, group, number, &probe), row;
	int rc = take_row(live, &row);

	if (rc)
		return rc;
	live->rows[row] =
		(struct crit_otf2_object){ .number = number, .group = group, .older = older };
	if (older != CRIT_NONE)
		crit_index_replace(&live->newest, &probe, row);
	else
		rc = crit_index_put(&live->newest, hash_of(group, number), row);
	if (rc) {
		free_row(live, row);
		return rc;
	}
	live->objects++;
	*ret_object = &live->rows[row];
	return 0;
}

void crit_otf2_live_remove(struct crit_otf2_live *live, uint32_t group, uint64_t number)
{
	struct crit_probe probe;
	uint32_t row = find(live, group, number, &probe);

	if (row == CRIT_NONE)
		return;
	if (live->rows[row].older == CRIT_NONE)
		crit_index_remove(&live->newest, &probe);
	else
		crit_index_replace(&live->newest, &probe, live->rows[row].older);
	free_row(live, row);
	live->objects--;
}
