// SPDX-License-Identifier: BSD-3-Clause
// An index against a plain list: what is put in is found until it is removed, also where hashes are
// equal or lie side by side.
#include "core/base/hash.h"
#include "core/base/index.h"
#include "tests/lib/check.h"
#include "tests/maker/random.h"

#define ROWS 700u
#define STEPS 20000u
#define NEIGHBOURS 32768u

struct list { /* which key each row has; 0: none */
	uint32_t keys[ROWS];
	size_t count;
};

enum spread {
	SPREAD_WIDE = 0,
	SPREAD_CLOSE,
	SPREAD_NONE,
	SPREAD_COUNT
};

/* A hash that crit_hash_cell turns into cell: its factor is odd, so it has an inverse. */
static uint64_t hash_in(uint32_t cell)
{
	uint64_t inverse = CRIT_HASH_GOLDEN, product;

	while ((product = inverse * CRIT_HASH_GOLDEN) != 1)
		inverse *= 2 - product;
	product = ((uint64_t)cell << 32) * inverse;
	return product ^ product >> 32;
}

static uint64_t hash_of(uint32_t key, enum spread spread)
{
	switch (spread) {
	case SPREAD_WIDE:
		return crit_hash_mix(0, key);
	case SPREAD_CLOSE:
		return hash_in(0xfffffff0u + key % 48); /* runs that pass the end of the cells */
	default:
		return key % 3;
	}
}

static uint32_t find(const struct crit_index *index, const struct list *list, uint32_t key,
		     enum spread spread, struct crit_probe *ret_probe)
{
	uint32_t row = crit_index_first(index, hash_of(key, spread), ret_probe);

	while (row != CRIT_NONE && list->keys[row] != key)
		row = crit_index_next(index, ret_probe);
	return row;
}

static uint32_t find_in_list(const struct list *list, uint32_t key)
{
	for (uint32_t row = 0; row < ROWS; row++)
		if (list->keys[row] == key)
			return row;
	return CRIT_NONE;
}

static void check_all(const struct crit_index *index, const struct list *list, uint32_t keys,
		      enum spread spread)
{
	struct crit_probe probe;

	CHECK_UINT_EQ(index->count, list->count);
	for (uint32_t key = 1; key <= keys; key++)
		CHECK_UINT_EQ(find(index, list, key, spread, &probe), find_in_list(list, key));
}

/* A key that is there is removed or gets another row; one that is not is put in. */
static void step(struct crit_index *index, struct list *list, struct crit_random *random,
		 uint32_t keys, enum spread spread)
{
	const uint32_t key = 1 + (uint32_t)crit_random_below(random, keys);
	const uint32_t empty = find_in_list(list, 0);
	struct crit_probe probe;
	const uint32_t row = find(index, list, key, spread, &probe);

	if (row == CRIT_NONE) {
		crit_index_forget(index, hash_of(key, spread), empty); /* it is not there */
		CHECK_INT_EQ(crit_index_put(index, hash_of(key, spread), empty), 0);
		list->keys[empty] = key;
		list->count++;
	} else if (crit_random_is(random, 20)) {
		crit_index_replace(index, &probe, empty);
		list->keys[row] = 0;
		list->keys[empty] = key;
	} else {
		if (crit_random_is(random, 50))
			crit_index_remove(index, &probe);
		else
			crit_index_forget(index, hash_of(key, spread), row);
		list->keys[row] = 0;
		list->count--;
	}
}

static void check_steps(uint32_t keys, enum spread spread)
{
	struct crit_random random = { keys + (uint64_t)spread };
	struct crit_index index = { 0 };
	struct list list = { 0 };

	CHECK_CASE("%u keys, spread %d", keys, (int)spread);
	check_all(&index, &list, 3, spread);
	for (unsigned int i = 0; i < STEPS; i++) {
		step(&index, &list, &random, keys, spread);
		if (i % 500 == 0)
			check_all(&index, &list, keys, spread);
	}
	check_all(&index, &list, keys, spread);
	crit_index_fini(&index);
	CHECK_UINT_EQ(index.count, 0);
}

/* Rows of one hash come in the order they were put in, before and after the index grows. */
static void check_order(void)
{
	struct crit_index index = { 0 };
	struct crit_probe probe;

	CHECK_CASE("order");
	for (uint32_t row = 0; row < 300; row++)
		CHECK_INT_EQ(crit_index_put(&index, hash_in(row % 2 ? 63 : UINT32_MAX), row), 0);
	for (uint32_t odd = 0; odd < 2; odd++) {
		uint32_t expected = odd;
		uint32_t row = crit_index_first(&index, hash_in(odd ? 63 : UINT32_MAX), &probe);

		for (; row != CRIT_NONE; row = crit_index_next(&index, &probe)) {
			CHECK_UINT_EQ(row, expected);
			expected += 2;
		}
		CHECK_UINT_EQ(expected, 300 + odd);
	}
	crit_index_fini(&index);
}

/* Keys whose rows differ little: one handle of all processes, ranks beside each other. */
static uint64_t neighbours(uint32_t shape, uint32_t i)
{
	const uint64_t own = i / 4, next = own + 1 + i % 4;

	switch (shape) {
	case 0:
		return crit_hash_mix(0x10, (uint64_t)i << 40);
	case 1:
		return crit_hash_mix(i, 1ull << 32);
	case 2:
		return crit_hash_mix(0, own << 32 | next);
	default:
		return crit_hash_mix(crit_hash_mix(0, next), own);
	}
}

/* Each row is found in its cell or few behind it, whatever part of the key the rows differ in. */
static void check_distances(void)
{
	for (uint32_t shape = 0; shape < 4; shape++) {
		struct crit_index index = { 0 };
		size_t cells = 0;

		CHECK_CASE("distances, shape %u", shape);
		for (uint32_t i = 0; i < NEIGHBOURS; i++)
			CHECK_INT_EQ(crit_index_put(&index, neighbours(shape, i), i), 0);
		for (uint32_t i = 0; i < NEIGHBOURS; i++) {
			struct crit_probe probe;
			uint32_t row = crit_index_first(&index, neighbours(shape, i), &probe);

			while (row != i && row != CRIT_NONE)
				row = crit_index_next(&index, &probe);
			CHECK_UINT_EQ(row, i);
			cells += (probe.at - probe.hash) & (index.size - 1);
		}
		CHECK_MSG(cells < NEIGHBOURS, "%zu cells passed over by %u rows", cells,
			  NEIGHBOURS);
		crit_index_fini(&index);
	}
}

int main(void)
{
	static const uint32_t key_counts[] = { 1, 20, 48, 600 };

	for (size_t i = 0; i < sizeof(key_counts) / sizeof(key_counts[0]); i++)
		for (int spread = 0; spread < SPREAD_COUNT; spread++)
			check_steps(key_counts[i], (enum spread)spread);
	check_order();
	check_distances();
	return check_done();
}
