// SPDX-License-Identifier: BSD-3-Clause
// Finds and adds rows of a tally.
#include "otf2/verify/tally.h"

#include <stdbool.h>
#include <stdlib.h>

#include "core/base/hash.h"

static uint64_t hash_of(const struct crit_otf2_tally_row *key)
{
	const uint64_t label = crit_hash_mix(0, (uint64_t)key->communicator << 32 | key->tag);

	return crit_hash_mix(label, (uint64_t)key->sender << 32 | key->receiver);
}

static bool is_same(const struct crit_otf2_tally_row *a, const struct crit_otf2_tally_row *b)
{
	return a->communicator == b->communicator && a->sender == b->sender &&
	       a->receiver == b->receiver && a->tag == b->tag;
}

struct crit_otf2_tally_row *crit_otf2_tally_get(struct crit_otf2_tally *tally,
						const struct crit_otf2_tally_row *key)
{
	struct crit_probe probe;
	uint64_t hash = hash_of(key);
	uint32_t row = crit_index_first(&tally->numbers, hash, &probe);

	while (row != CRIT_NONE && !is_same(&tally->rows[row], key))
		row = crit_index_next(&tally->numbers, &probe);
	if (row != CRIT_NONE)
		return &tally->rows[row];
	row = (uint32_t)tally->count;
	if (crit_array_grow(&tally->rows, &tally->capacity, tally->count + 1,
			    sizeof(*tally->rows)) ||
	    crit_index_put(&tally->numbers, hash, row))
		return NULL;
	tally->rows[row] = (struct crit_otf2_tally_row){ .communicator = key->communicator,
							 .sender = key->sender,
							 .receiver = key->receiver,
							 .tag = key->tag };
	tally->count++;
	return &tally->rows[row];
}

void crit_otf2_tally_fini(struct crit_otf2_tally *tally)
{
	free(tally->rows);
	crit_index_fini(&tally->numbers);
	*tally = (struct crit_otf2_tally){ 0 };
}
