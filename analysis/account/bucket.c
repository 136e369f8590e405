// SPDX-License-Identifier: BSD-3-Clause
// Hash table of the buckets that all tables of the results are summed from.
#include "analysis/account/bucket.h"

#include <stdbool.h>
#include <stdlib.h>

#include "core/base/hash.h"

#define BLOCK 256u
#define GROUP 64u /* blocks that are made at once, from as many on: they fill large pages */

static uint64_t hash_of(const struct crit_bucket_key *key)
{
	return crit_hash_mix(crit_hash_mix(key->site, (uint64_t)key->thread << 32 | key->region),
			     (uint32_t)key->call << 8 | key->span_class);
}

static bool is_same(const struct crit_bucket_key *a, const struct crit_bucket_key *b)
{
	return a->site == b->site && a->thread == b->thread && a->region == b->region &&
	       a->call == b->call && a->span_class == b->span_class;
}

struct crit_bucket *crit_buckets_at(const struct crit_buckets *buckets, size_t index)
{
	return &buckets->blocks[index / BLOCK][index % BLOCK];
}

/* Room for one more bucket.  NULL: out of memory. */
static struct crit_bucket *room_for_one(struct crit_buckets *buckets)
{
	size_t block = buckets->count / BLOCK;

	if (block == buckets->block_count) {
		if (crit_array_grow(&buckets->blocks, &buckets->block_capacity, block + GROUP,
				    sizeof(struct crit_bucket *)))
			return NULL;
		const size_t more = block < GROUP ? 1 : GROUP;
		struct crit_bucket *fresh = crit_lines_alloc(more * BLOCK, sizeof(*fresh));

		if (!fresh)
			return NULL;
		for (; buckets->block_count < block + more; fresh += BLOCK)
			buckets->blocks[buckets->block_count++] = fresh;
	}
	return crit_buckets_at(buckets, buckets->count);
}

static struct crit_bucket *find(const struct crit_buckets *buckets,
				const struct crit_bucket_key *key, uint64_t hash)
{
	struct crit_probe probe;
	uint32_t number = crit_index_first(&buckets->numbers, hash, &probe);

	for (; number != CRIT_NONE; number = crit_index_next(&buckets->numbers, &probe)) {
		struct crit_bucket *bucket = crit_buckets_at(buckets, number);

		if (is_same(&bucket->key, key))
			return bucket;
	}
	return NULL;
}

struct crit_bucket *crit_buckets_get(struct crit_buckets *buckets,
				     const struct crit_bucket_key *key)
{
	struct crit_bucket_key wanted = *key;
	uint64_t hash = hash_of(&wanted);
	struct crit_bucket *bucket = find(buckets, &wanted, hash);

	if (!bucket && buckets->count >= CRIT_BUCKETS_MAX && (wanted.site || wanted.region)) {
		wanted.site = 0;
		wanted.region = 0;
		hash = hash_of(&wanted);
		bucket = find(buckets, &wanted, hash);
	}
	if (bucket)
		return bucket;
	bucket = room_for_one(buckets);
	if (!bucket || crit_index_put(&buckets->numbers, hash, (uint32_t)buckets->count))
		return NULL;
	buckets->count++;
	bucket->key = wanted;
	return bucket;
}

void crit_durations_add(struct crit_durations *durations, const struct crit_durations *more)
{
	if (!more->count)
		return;
	if (!durations->count || more->min_ns < durations->min_ns)
		durations->min_ns = more->min_ns;
	if (more->max_ns > durations->max_ns)
		durations->max_ns = more->max_ns;
	durations->count += more->count;
	durations->sum_ns += more->sum_ns;
}

void crit_bucket_add(struct crit_bucket *bucket, const struct crit_bucket *more)
{
	bucket->visits += more->visits;
	bucket->folded_visits += more->folded_visits;
	bucket->folded_ns += more->folded_ns;
	bucket->polled += more->polled;
	bucket->bytes += more->bytes;
	bucket->time_ns += more->time_ns;
	bucket->running_ns += more->running_ns;
	bucket->begun += more->begun;
	bucket->elapsed_ns += more->elapsed_ns;
	crit_durations_add(&bucket->durations, &more->durations);
	crit_attribution_add(&bucket->attributed, &more->attributed);
}

void crit_buckets_fini(struct crit_buckets *buckets)
{
	for (size_t i = 0; i < buckets->block_count; i += i < GROUP ? 1 : GROUP)
		free(buckets->blocks[i]);
	free(buckets->blocks);
	crit_index_fini(&buckets->numbers);
	*buckets = (struct crit_buckets){ 0 };
}
