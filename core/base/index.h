/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An index of rows by key: rows and keys are the caller's, the index keeps where they are.
 *
 * The caller hashes the key and compares the rows that are found under that hash:
 *
 *	struct crit_probe probe;
 *	uint32_t row = crit_index_first(&index, hash, &probe);
 *
 *	while (row != CRIT_NONE && !is_same(&rows[row], key))
 *		row = crit_index_next(&index, &probe);
 *
 * Open addressing with linear probes; removal moves entries back, so no tombstones slow it down.
 * A number alone as key is what core/base/map.h is for.
 */
#ifndef CRIT_INDEX_H
#define CRIT_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "core/base/array.h"
#include "core/base/hash.h"

struct crit_index_cell {
	uint32_t hash; /* crit_hash_cell of it */
	uint32_t row; /* CRIT_NONE: empty */
};

struct crit_index { /* zeroed: empty */
	struct crit_index_cell *cells;
	size_t size; /* a power of two, or 0 */
	size_t count;
};

struct crit_probe { /* a cell of the index; holds until the index changes */
	size_t at;
	uint32_t hash;
};

/* The row of the probe's cell or of the next one with its hash; CRIT_NONE, at an empty cell. */
static inline uint32_t crit_index_look(const struct crit_index *index, struct crit_probe *probe)
{
	const struct crit_index_cell *cell = &index->cells[probe->at];

	while (cell->row != CRIT_NONE && cell->hash != probe->hash) {
		probe->at = (probe->at + 1) & (index->size - 1);
		cell = &index->cells[probe->at];
	}
	return cell->row;
}

/* The first row put in under a hash, and the one after that of the probe; CRIT_NONE: no more. */
static inline uint32_t crit_index_first(const struct crit_index *index, uint64_t hash,
					struct crit_probe *ret_probe)
{
	ret_probe->hash = crit_hash_cell(hash);
	ret_probe->at = ret_probe->hash & (index->size - 1);
	return index->size ? crit_index_look(index, ret_probe) : CRIT_NONE;
}

static inline uint32_t crit_index_next(const struct crit_index *index, struct crit_probe *probe)
{
	probe->at = (probe->at + 1) & (index->size - 1);
	return crit_index_look(index, probe);
}

/* Fetches the cell of a hash ahead. */
static inline void crit_index_fetch(const struct crit_index *index, uint64_t hash)
{
	if (index->size)
		__builtin_prefetch(&index->cells[crit_hash_cell(hash) & (index->size - 1)], 1);
}

/*
 * Puts in a row, behind those with the same hash.  Range: row below CRIT_NONE.  Errors: -ENOMEM.
 * Cost: amortised O(1).
 */
int crit_index_put(struct crit_index *index, uint64_t hash, uint32_t row);

/* Puts another row of the same key in the place of the one that was found. */
static inline void crit_index_replace(struct crit_index *index, const struct crit_probe *probe,
				      uint32_t row)
{
	index->cells[probe->at].row = row;
}

/* Removes the row that was found. */
void crit_index_remove(struct crit_index *index, const struct crit_probe *probe);

/* Removes a row that was put in under that hash, if it is there. */
void crit_index_forget(struct crit_index *index, uint64_t hash, uint32_t row);

void crit_index_fini(struct crit_index *index);

#endif
