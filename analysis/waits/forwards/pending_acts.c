// SPDX-License-Identifier: BSD-3-Clause
// Rows by key, used again when they are removed.
#include "analysis/waits/forwards/pending_acts.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/hash.h"

void crit_pending_acts_fini(struct crit_pending_acts *acts)
{
	free(acts->rows);
	free(acts->times_ns);
	free(acts->unused);
	crit_index_fini(&acts->places);
	*acts = (struct crit_pending_acts){ 0 };
}

uint32_t crit_pending_acts_search(const struct crit_pending_acts *acts, uint64_t key,
				  struct crit_probe *ret_probe)
{
	uint32_t row = crit_index_first(&acts->places, crit_hash_mix(key, 0), ret_probe);

	while (row != CRIT_NONE && acts->rows[row].key != key)
		row = crit_index_next(&acts->places, ret_probe);
	return row;
}

uint32_t crit_pending_acts_find(const struct crit_pending_acts *acts, uint64_t key)
{
	struct crit_probe probe;

	return crit_pending_acts_search(acts, key, &probe);
}

/* Errors: -ENOMEM. */
static int make_row(struct crit_pending_acts *acts, uint32_t *ret_row)
{
	const size_t wanted = acts->count + 1;
	int rc;

	if (acts->unused_count) {
		*ret_row = acts->unused[--acts->unused_count];
		return 0;
	}
	rc = crit_array_grow(&acts->rows, &acts->capacity, wanted, sizeof(*acts->rows));
	if (!rc)
		rc = crit_array_grow(&acts->times_ns, &acts->times_capacity,
				     wanted * acts->scenario_count, sizeof(*acts->times_ns));
	/* so that a row can always be given back */
	if (!rc)
		rc = crit_array_grow(&acts->unused, &acts->unused_capacity, wanted,
				     sizeof(*acts->unused));
	if (!rc)
		*ret_row = (uint32_t)acts->count++;
	return rc;
}

int crit_pending_acts_obtain(struct crit_pending_acts *acts, uint64_t key, uint32_t *ret_row)
{
	uint32_t row = crit_pending_acts_find(acts, key);
	int rc = 0;

	if (row == CRIT_NONE) {
		rc = make_row(acts, &row);
		if (rc)
			return rc;
		acts->rows[row] = (struct crit_pending_act){ .key = key };
		memset(crit_pending_acts_times(acts, row), 0,
		       acts->scenario_count * sizeof(*acts->times_ns));
		rc = crit_index_put(&acts->places, crit_hash_mix(key, 0), row);
		if (rc)
			acts->unused[acts->unused_count++] = row;
	}
	*ret_row = row;
	return rc;
}

static void give_back(struct crit_pending_acts *acts, uint32_t row)
{
	acts->rows[row].key = UINT64_MAX;
	acts->unused[acts->unused_count++] = row;
}

void crit_pending_acts_remove_found(struct crit_pending_acts *acts, uint32_t row,
				    const struct crit_probe *probe)
{
	crit_index_remove(&acts->places, probe);
	give_back(acts, row);
}

void crit_pending_acts_remove(struct crit_pending_acts *acts, uint32_t row)
{
	struct crit_probe probe;

	if (crit_pending_acts_search(acts, acts->rows[row].key, &probe) != CRIT_NONE)
		crit_index_remove(&acts->places, &probe);
	give_back(acts, row);
}
