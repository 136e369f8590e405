// SPDX-License-Identifier: BSD-3-Clause
// Groups by a sort, by a hash and of rows that come one by one are the same groups, also where all
// hashes are one.
#include "analysis/table/group_by.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/cleanup.h"
#include "tests/lib/check.h"

#define ITEMS 2000

struct item {
	uint32_t key, number;
};

struct row {
	uint32_t key, first, last, count; /* number of the first item and of the last, of all */
	uint64_t sum;
};

static int compare(const void *left, const void *right)
{
	const struct item *a = left, *b = right;

	return (a->key > b->key) - (a->key < b->key);
}

static void begin(void *to, const void *from)
{
	const struct item *item = from;
	struct row *row = to;

	row->key = item->key;
	row->first = item->number;
}

static void add(void *to, const void *from)
{
	const struct item *item = from;
	struct row *row = to;

	row->last = item->number;
	row->count++;
	row->sum += item->number;
}

static uint64_t hash_key(const void *item)
{
	return ((const struct item *)item)->key;
}

static uint64_t hash_nothing(const void *item)
{
	(void)item;
	return 1;
}

static void fill(struct item *items, uint32_t keys)
{
	uint64_t state = keys;

	for (uint32_t i = 0; i < ITEMS; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		items[i] = (struct item){ (uint32_t)(state >> 33) % keys, i };
	}
}

static int compare_rows(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	return (a->key > b->key) - (a->key < b->key);
}

static void check_hash(uint64_t (*hash)(const void *item), uint32_t keys, size_t count)
{
	const struct crit_grouping sorted = {
		sizeof(struct item), sizeof(struct row), compare, begin, add, NULL
	};
	struct crit_grouping hashed = sorted;
	struct item items[ITEMS];
	size_t row_count = 0, sorted_count = 0;
	crit_autofree struct row *rows = NULL, *sorted_rows = NULL;

	CHECK_CASE("%u keys, %zu items", keys, count);
	fill(items, keys);
	hashed.hash = hash;
	rows = crit_group_by(&hashed, items, count, &row_count);
	for (size_t i = 1; i < row_count; i++)
		CHECK(rows[i - 1].first < rows[i].first);
	sorted_rows = crit_group_by(&sorted, items, count, &sorted_count);
	CHECK_UINT_EQ(row_count, sorted_count);
	qsort(rows, row_count, sizeof(*rows), compare_rows);
	for (size_t i = 0; i < row_count && i < sorted_count; i++) {
		CHECK_UINT_EQ(rows[i].key, sorted_rows[i].key);
		CHECK_UINT_EQ(rows[i].first, sorted_rows[i].first);
		CHECK_UINT_EQ(rows[i].last, sorted_rows[i].last);
		CHECK_UINT_EQ(rows[i].count, sorted_rows[i].count);
		CHECK_UINT_EQ(rows[i].sum, sorted_rows[i].sum);
	}
}

static int compare_groups(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	return (a->key > b->key) - (a->key < b->key);
}

static void begin_group(void *to, const void *from)
{
	const struct row *item = from;

	*(struct row *)to = (struct row){ .key = item->key, .first = item->first };
}

static void add_group(void *to, const void *from)
{
	const struct row *item = from;
	struct row *row = to;

	row->last = item->last;
	row->count += item->count;
	row->sum += item->sum;
}

/* Rows that come one by one are the same groups; no more of them than there is room for. */
static void check_one_by_one(uint64_t (*hash)(const void *item), uint32_t keys, size_t count)
{
	const struct crit_grouping by_items = {
		sizeof(struct item), sizeof(struct row), compare, begin, add, hash
	};
	const struct crit_grouping by_rows = { sizeof(struct row), sizeof(struct row),
					       compare_groups,     begin_group,
					       add_group,          hash };
	struct item items[ITEMS];
	size_t row_count = 0, group_count = 0;
	struct crit_groups groups;
	crit_autofree struct row *rows = NULL, *joined = NULL;

	CHECK_CASE("%u keys, %zu items, one by one", keys, count);
	fill(items, keys);
	rows = crit_group_by(&by_items, items, count, &row_count);
	CHECK_INT_EQ(crit_groups_begin(&groups, &by_rows, row_count), 0);
	for (size_t i = 0; i < count; i++) {
		const struct row row = { items[i].key, items[i].number, items[i].number, 1,
					 items[i].number };

		CHECK_INT_EQ(crit_groups_put(&groups, &row), 0);
	}
	joined = crit_groups_end(&groups, &group_count);
	CHECK_UINT_EQ(group_count, row_count);
	CHECK(group_count != row_count || memcmp(joined, rows, row_count * sizeof(*rows)) == 0);
}

int main(void)
{
	static const uint32_t keys[] = { 1, 2, 100, 100000 };
	static const size_t counts[] = { 0, 1, 2, ITEMS };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		for (size_t j = 0; j < sizeof(counts) / sizeof(counts[0]); j++) {
			check_hash(hash_key, keys[i], counts[j]);
			check_hash(hash_nothing, keys[i], counts[j]);
			check_one_by_one(hash_key, keys[i], counts[j]);
			check_one_by_one(hash_nothing, keys[i], counts[j]);
		}
	return check_done();
}
