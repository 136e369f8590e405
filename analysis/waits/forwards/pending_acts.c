// SPDX-License-Identifier: BSD-3-Clause
// Rows by key, used again when they are removed.
#include "analysis/waits/forwards/pending_acts.h"

#include <stdlib.h>

#include "core/base/array.h"

void crit_pending_acts_fini(struct crit_pending_acts *acts)
{
	free(acts->rows);
	free(acts->times_ns);
	free(acts->unused);
	crit_index_fini(&acts->places);
	*acts = (struct crit_pending_acts){ 0 };
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

int crit_pending_acts_add(struct crit_pending_acts *acts, uint64_t key, uint32_t *ret_row)
{
	uint64_t *times_ns;
	uint32_t row;
	int rc = make_row(acts, &row);

	if (rc)
		return rc;
	acts->rows[row] = (struct crit_pending_act){ .key = key };
	times_ns = crit_pending_acts_times(acts, row);
	for (size_t k = 0; k < acts->scenario_count; k++)
		times_ns[k] = 0;
	rc = crit_index_put(&acts->places, key, row);
	if (rc)
		acts->unused[acts->unused_count++] = row;
	else
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
