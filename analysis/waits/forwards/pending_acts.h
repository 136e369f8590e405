/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When the acts that waits need are done, in each scenario: of waits, by number, and of objects, by
 * name.  Memory: rows at a time.
 */
#ifndef CRIT_PENDING_ACTS_H
#define CRIT_PENDING_ACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/index.h"

struct crit_pending_act {
	uint64_t key;
	uint64_t last_ns; /* of the acts so far, as recorded */
	uint64_t free_ns; /* of a wait for a lock: the release before, as recorded */
	uint32_t due; /* that come at the present time and were not taken */
	uint32_t lock; /* that the wait is for, as the film has it; 0: none */
	bool has_act;
};

struct crit_pending_acts {
	struct crit_pending_act *rows;
	uint64_t *times_ns; /* of each row, in each scenario, the last act */
	size_t count, capacity, times_capacity;
	size_t scenario_count;
	struct crit_index places;
	uint32_t *unused;
	size_t unused_count, unused_capacity;
};

/* Zeroed but for scenario_count: empty. */
void crit_pending_acts_fini(struct crit_pending_acts *acts);

/* The row of a key, and where it was found, until one is made or removed; CRIT_NONE: none. */
static inline uint32_t crit_pending_acts_search(const struct crit_pending_acts *acts, uint64_t key,
						struct crit_probe *ret_probe)
{
	uint32_t row = crit_index_first(&acts->places, key, ret_probe);

	while (row != CRIT_NONE && acts->rows[row].key != key)
		row = crit_index_next(&acts->places, ret_probe);
	return row;
}

static inline uint32_t crit_pending_acts_find(const struct crit_pending_acts *acts, uint64_t key)
{
	struct crit_probe probe;

	return crit_pending_acts_search(acts, key, &probe);
}

/* A new row, without acts, of a key that has none.  Errors: -ENOMEM. */
int crit_pending_acts_add(struct crit_pending_acts *acts, uint64_t key, uint32_t *ret_row);

/* The row of a key, a new one where there is none.  Errors: -ENOMEM. */
static inline int crit_pending_acts_obtain(struct crit_pending_acts *acts, uint64_t key,
					   uint32_t *ret_row)
{
	*ret_row = crit_pending_acts_find(acts, key);
	return *ret_row != CRIT_NONE ? 0 : crit_pending_acts_add(acts, key, ret_row);
}

void crit_pending_acts_remove(struct crit_pending_acts *acts, uint32_t row);

/* Likewise, one that was found there. */
void crit_pending_acts_remove_found(struct crit_pending_acts *acts, uint32_t row,
				    const struct crit_probe *probe);

static inline uint64_t *crit_pending_acts_times(const struct crit_pending_acts *acts, uint32_t row)
{
	return &acts->times_ns[row * acts->scenario_count];
}

/* Fetches ahead where a key is looked up, and what was found there if that was fetched before. */
static inline void crit_pending_acts_fetch_key(const struct crit_pending_acts *acts, uint64_t key)
{
	crit_index_fetch(&acts->places, key);
}

static inline void crit_pending_acts_fetch_row(const struct crit_pending_acts *acts, uint64_t key)
{
	const uint32_t row = crit_pending_acts_find(acts, key);

	if (row == CRIT_NONE)
		return;
	__builtin_prefetch(&acts->rows[row], 1);
	crit_lines_fetch(crit_pending_acts_times(acts, row),
			 acts->scenario_count * sizeof(*acts->times_ns));
}

#endif
