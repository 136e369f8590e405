// SPDX-License-Identifier: BSD-3-Clause
// A hash of rows that keep their place.
#include "otf2/verify/tally.h"

#include <stdbool.h>
#include <stdlib.h>

#include "core/base/array.h"

#define TABLE_MIN 256u

static size_t slot_of(const struct crit_otf2_tally *tally, const struct crit_otf2_tally_row *key)
{
	uint64_t mixed = ((uint64_t)key->communicator << 32 | key->tag) * 0x9e3779b97f4a7c15ull;

	mixed ^= ((uint64_t)key->sender << 32 | key->receiver) * 0xc2b2ae3d27d4eb4full;
	return (size_t)((mixed ^ mixed >> 29) * 0x9e3779b97f4a7c15ull >> 20) &
	       (tally->table_size - 1);
}

static bool is_same(const struct crit_otf2_tally_row *a, const struct crit_otf2_tally_row *b)
{
	return a->communicator == b->communicator && a->sender == b->sender &&
	       a->receiver == b->receiver && a->tag == b->tag;
}

static int enlarge(struct crit_otf2_tally *tally)
{
	size_t size = tally->table_size ? tally->table_size * 2 : TABLE_MIN, i, slot;
	uint32_t *table = calloc(size, sizeof(*table));

	if (!table)
		return -1;
	free(tally->table);
	tally->table = table;
	tally->table_size = size;
	for (i = 0; i < tally->count; i++) {
		slot = slot_of(tally, &tally->rows[i]);
		while (table[slot])
			slot = (slot + 1) & (size - 1);
		table[slot] = (uint32_t)i + 1;
	}
	return 0;
}

struct crit_otf2_tally_row *crit_otf2_tally_get(struct crit_otf2_tally *tally,
						const struct crit_otf2_tally_row *key)
{
	size_t slot;

	if (tally->count * 2 >= tally->table_size && enlarge(tally))
		return NULL;
	slot = slot_of(tally, key);
	for (; tally->table[slot]; slot = (slot + 1) & (tally->table_size - 1)) {
		if (is_same(&tally->rows[tally->table[slot] - 1], key))
			return &tally->rows[tally->table[slot] - 1];
	}
	if (crit_array_grow(&tally->rows, &tally->capacity, tally->count + 1, sizeof(*tally->rows)))
		return NULL;
	tally->rows[tally->count] = (struct crit_otf2_tally_row){ .communicator = key->communicator,
								  .sender = key->sender,
								  .receiver = key->receiver,
								  .tag = key->tag };
	tally->table[slot] = (uint32_t)++tally->count;
	return &tally->rows[tally->count - 1];
}

void crit_otf2_tally_fini(struct crit_otf2_tally *tally)
{
	free(tally->rows);
	free(tally->table);
	*tally = (struct crit_otf2_tally){ 0 };
}
