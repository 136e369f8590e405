// SPDX-License-Identifier: BSD-3-Clause
// The table of buckets.
#include "analysis/account/bucket.h"

#include <stdbool.h>
#include <stdlib.h>

#include "core/base/array.h"

#define BLOCK 256u

static uint64_t hash(const struct crit_bucket_key *key)
{
	uint64_t mixed = key->site * 0x9e3779b97f4a7c15ull;

	mixed ^= ((uint64_t)key->life << 32 | key->region) + (mixed >> 29);
	mixed *= 0xbf58476d1ce4e5b9ull;
	mixed ^= ((uint64_t)key->call << 8 | key->span_class) + (mixed >> 32);
	mixed *= 0x94d049bb133111ebull;
	return mixed ^ mixed >> 31;
}

static bool is_same(const struct crit_bucket_key *a, const struct crit_bucket_key *b)
{
	return a->site == b->site && a->life == b->life && a->region == b->region &&
	       a->call == b->call && a->span_class == b->span_class;
}

struct crit_bucket *crit_buckets_at(const struct crit_buckets *buckets, size_t index)
{
	return &buckets->blocks[index / BLOCK][index % BLOCK];
}

static int enlarge(struct crit_buckets *buckets)
{
	size_t size = buckets->table_size ? buckets->table_size * 2 : 256;
	struct crit_bucket **table = calloc(size, sizeof(struct crit_bucket *));
	size_t i;

	if (!table)
		return -1;
	for (i = 0; i < buckets->count; i++) {
		struct crit_bucket *bucket = crit_buckets_at(buckets, i);
		size_t slot = hash(&bucket->key) & (size - 1);

		while (table[slot])
			slot = (slot + 1) & (size - 1);
		table[slot] = bucket;
	}
	free(buckets->table);
	buckets->table = table;
	buckets->table_size = size;
	return 0;
}

static struct crit_bucket *add(struct crit_buckets *buckets)
{
	size_t block = buckets->count / BLOCK;

	if (block == buckets->block_count) {
		if (crit_array_grow(&buckets->blocks, &buckets->block_capacity, block + 1,
				    sizeof(struct crit_bucket *)))
			return NULL;
		buckets->blocks[block] = calloc(BLOCK, sizeof(struct crit_bucket));
		if (!buckets->blocks[block])
			return NULL;
		buckets->block_count++;
	}
	return crit_buckets_at(buckets, buckets->count++);
}

struct crit_bucket *crit_buckets_get(struct crit_buckets *buckets,
				     const struct crit_bucket_key *key)
{
	struct crit_bucket_key wanted = *key;
	struct crit_bucket *bucket;
	size_t slot;

	if (buckets->count * 2 >= buckets->table_size && enlarge(buckets))
		return NULL;
	for (;;) {
		slot = hash(&wanted) & (buckets->table_size - 1);
		while (buckets->table[slot]) {
			if (is_same(&buckets->table[slot]->key, &wanted))
				return buckets->table[slot];
			slot = (slot + 1) & (buckets->table_size - 1);
		}
		if (buckets->count < CRIT_BUCKETS_MAX || (!wanted.site && !wanted.region))
			break;
		wanted.site = 0;
		wanted.region = 0;
	}
	bucket = add(buckets);
	if (bucket) {
		bucket->key = wanted;
		buckets->table[slot] = bucket;
	}
	return bucket;
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
	crit_earnings_add(&bucket->earned, &more->earned);
}

void crit_buckets_fini(struct crit_buckets *buckets)
{
	size_t i;

	for (i = 0; i < buckets->block_count; i++)
		free(buckets->blocks[i]);
	free(buckets->blocks);
	free(buckets->table);
	*buckets = (struct crit_buckets){ 0 };
}
