// SPDX-License-Identifier: BSD-3-Clause
// Pairs of threads by their numbers.
#include "analysis/delays/delay_pairs.h"

#include <errno.h>
#include <stdlib.h>

#include "core/base/array.h"
#include "core/base/hash.h"

void crit_delay_pairs_fini(struct crit_delay_pairs *pairs)
{
	free(pairs->rows);
	crit_index_fini(&pairs->places);
	*pairs = (struct crit_delay_pairs){ 0 };
}

struct crit_delay_pair *crit_delay_pairs_obtain(struct crit_delay_pairs *pairs, uint32_t a,
						uint32_t b, uint64_t begin_ns, int *ret_rc)
{
	const uint32_t low = a < b ? a : b, high = a < b ? b : a;
	const uint64_t hash = crit_hash_mix(0, (uint64_t)low << 32 | high);
	struct crit_probe probe;
	uint32_t row = crit_index_first(&pairs->places, hash, &probe);
	int rc;

	*ret_rc = 0;
	for (; row != CRIT_NONE; row = crit_index_next(&pairs->places, &probe)) {
		if (pairs->rows[row].threads[0] == low && pairs->rows[row].threads[1] == high)
			return &pairs->rows[row];
	}
	if (pairs->count == CRIT_DELAY_PAIRS_MAX)
		return NULL;
	row = (uint32_t)pairs->count;
	rc = crit_array_grow(&pairs->rows, &pairs->capacity, row + 1u, sizeof(*pairs->rows));
	if (!rc)
		rc = crit_index_put(&pairs->places, hash, row);
	*ret_rc = rc;
	if (rc)
		return NULL;
	pairs->count++;
	pairs->rows[row] = (struct crit_delay_pair){ .threads = { low, high },
						     .met_ns = { begin_ns, begin_ns } };
	return &pairs->rows[row];
}
