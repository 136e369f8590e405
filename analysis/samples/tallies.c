// SPDX-License-Identifier: BSD-3-Clause
// Hash table of tallies, with a bound.
#include "analysis/samples/tallies.h"

#include <errno.h>
#include <stdlib.h>

static uint64_t hash_of(const struct crit_tally *tally)
{
	uint64_t hash = crit_hash_mix(tally->address,
				      (uint64_t)tally->cell.thread << 32 | tally->cell.region);

	hash = crit_hash_mix(hash, tally->path);

	return crit_hash_mix(hash, (uint64_t)tally->batch << 32 | (uint32_t)tally->cell.call << 8 |
					   tally->cell.span_class);
}

int crit_tallies_compare_cells(const struct crit_bucket_key *a, const struct crit_bucket_key *b)
{
	if (a->thread != b->thread)
		return crit_by_number(a->thread, b->thread);
	if (a->region != b->region)
		return crit_by_number(a->region, b->region);
	if (a->call != b->call)
		return crit_by_number(a->call, b->call);
	return crit_by_number(a->span_class, b->span_class);
}

static bool is_same(const struct crit_tally *a, const struct crit_tally *b)
{
	return a->address == b->address && a->path == b->path && a->batch == b->batch &&
	       crit_tallies_compare_cells(&a->cell, &b->cell) == 0;
}

static struct crit_tally *find(const struct crit_tallies *tallies, const struct crit_tally *wanted,
			       uint64_t hash)
{
	struct crit_probe probe;
	uint32_t number = crit_index_first(&tallies->numbers, hash, &probe);

	while (number != CRIT_NONE && !is_same(&tallies->rows[number], wanted))
		number = crit_index_next(&tallies->numbers, &probe);
	return number == CRIT_NONE ? NULL : &tallies->rows[number];
}

static struct crit_tally *make(struct crit_tallies *tallies, const struct crit_tally *wanted,
			       uint64_t hash)
{
	struct crit_tally *tally;

	if (crit_array_grow(&tallies->rows, &tallies->capacity, tallies->count + 1,
			    sizeof(*tallies->rows)) ||
	    crit_index_put(&tallies->numbers, hash, (uint32_t)tallies->count))
		return NULL;
	tally = &tallies->rows[tallies->count++];
	*tally = (struct crit_tally){ .cell = wanted->cell,
				      .address = wanted->address,
				      .path = wanted->path,
				      .batch = wanted->batch };
	return tally;
}

int64_t crit_tallies_add(struct crit_tallies *tallies, const struct crit_tally *sample)
{
	struct crit_tally wanted = *sample;
	uint64_t hash = hash_of(&wanted);
	struct crit_tally *tally = find(tallies, &wanted, hash);
	const bool is_full = tallies->count >= (tallies->max ? tallies->max : CRIT_TALLIES_MAX);

	if (!tally && is_full && wanted.path) {
		wanted.path = 0;
		hash = hash_of(&wanted);
		tally = find(tallies, &wanted, hash);
	}
	if (!tally && is_full) {
		wanted.address = 0;
		hash = hash_of(&wanted);
		tally = find(tallies, &wanted, hash);
	}
	if (!tally)
		tally = make(tallies, &wanted, hash);
	if (!tally)
		return -ENOMEM;
	tally->weight += sample->weight;
	tally->cpu_ns += sample->cpu_ns;
	tally->count += sample->count;
	return tally - tallies->rows;
}

void crit_tallies_fini(struct crit_tallies *tallies)
{
	free(tallies->rows);
	crit_index_fini(&tallies->numbers);
	*tallies = (struct crit_tallies){ 0 };
}
