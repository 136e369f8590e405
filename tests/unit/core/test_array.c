// SPDX-License-Identifier: BSD-3-Clause
// Arrays keep what is in them when they become large, what is new in them is zero; numbers by keys.
#include "core/base/array.h"

#include <errno.h>

#include "tests/lib/check.h"

#define MOST (1u << 20) /* 8 MiB: beyond the sizes at which pages and places change */

static void keeps_content(void)
{
	uint64_t *numbers = NULL, wrong = 0;
	size_t capacity = 0;

	for (size_t i = 0; i < MOST; i++) {
		CHECK_INT_EQ(crit_array_grow(&numbers, &capacity, i + 1, sizeof(*numbers)), 0);
		wrong += numbers[i] != 0 || numbers[capacity - 1] != 0;
		numbers[i] = i + 1;
	}
	for (size_t i = 0; i < MOST; i++)
		wrong += numbers[i] != i + 1;
	CHECK_INT_EQ(wrong, 0);
	free(numbers);
}

static void rows_are_lines(void)
{
	static const size_t counts[] = { 1, 3, 1u << 13, (1u << 14) - 1, 1u << 16 };

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		const size_t bytes = counts[i] * 80;
		unsigned char *rows = crit_lines_alloc(counts[i], 80);
		size_t set = 0;

		CHECK(rows != NULL);
		CHECK_INT_EQ((uintptr_t)rows % CRIT_LINE_BYTES, 0);
		for (size_t at = 0; rows && at < bytes; at++)
			set += rows[at] != 0;
		CHECK_INT_EQ(set, 0);
		if (rows)
			memset(rows, 0xff, bytes); /* so that the next ones are dirty if reused */
		free(rows);
	}
	CHECK(crit_lines_room((size_t)-1 / 80, 80) == NULL);
	CHECK(crit_lines_room((size_t)-1 / 64 + 1, 64) == NULL);
}

/* Until they are in large pages. */
static void rows_grow(void)
{
	uint64_t(*rows)[8] = NULL;
	size_t capacity = 0, wrong = 0;

	for (size_t i = 0; i < MOST; i++) {
		CHECK_INT_EQ(crit_lines_grow(&rows, &capacity, i + 1, sizeof(*rows)), 0);
		if (i >= capacity)
			break;
		wrong += (uintptr_t)rows % CRIT_LINE_BYTES || rows[i][0] || rows[i][7];
		rows[i][0] = rows[i][7] = i + 1;
	}
	for (size_t i = 0; i < MOST && i < capacity; i++)
		wrong += rows[i][0] != i + 1 || rows[i][7] != i + 1;
	CHECK(capacity >= MOST);
	CHECK_INT_EQ(wrong, 0);
	CHECK_INT_EQ(crit_lines_grow(&rows, &capacity, (size_t)-1 / 64, 64), -ENOMEM);
	CHECK(capacity < (size_t)-1 / 64 && rows[MOST - 1][0] == MOST);
	free(rows);
}

#define KEYS 1000u

/* Numbers that are not all there are, and keys that many have, or one far away. */
static void numbers_are_sorted(void)
{
	static const uint32_t sizes[] = { 0, 1, 2, KEYS };
	uint32_t keys[KEYS], numbers[KEYS];

	for (uint32_t i = 0; i < KEYS; i++)
		keys[i] = i == 7 ? 123456 : i * 2654435761u % 61;
	for (size_t size = 0; size < sizeof(sizes) / sizeof(sizes[0]); size++) {
		uint32_t count = 0;
		uint64_t sum = 0, sorted_sum = 0;

		for (uint32_t i = 0; i < KEYS && count < sizes[size]; i += 1 + i % 2) {
			numbers[count++] = i;
			sum += (uint64_t)i * i;
		}
		CHECK_INT_EQ(crit_array_sort_numbers(numbers, count, keys), 0);
		for (uint32_t i = 0; i < count; i++)
			sorted_sum += (uint64_t)numbers[i] * numbers[i];
		CHECK_UINT_EQ(sorted_sum, sum);
		for (uint32_t i = 1; i < count; i++) /* they came with the smaller numbers first */
			CHECK(keys[numbers[i - 1]] < keys[numbers[i]] ||
			      (keys[numbers[i - 1]] == keys[numbers[i]] &&
			       numbers[i - 1] < numbers[i]));
	}
}

struct item {
	uint64_t key;
	uint32_t after_key, came;
};

static uint64_t key_of(const void *row)
{
	return ((const struct item *)row)->key;
}

static int compare_items(const void *left, const void *right)
{
	const struct item *a = left, *b = right;
	int order = crit_by_number(a->key, b->key);

	return order ? order : crit_by_number(a->after_key, b->after_key);
}

static uint64_t some_key(unsigned int kind, uint32_t i)
{
	switch (kind) {
	case 0:
		return 5; /* one for all */
	case 1:
		return i * 0x9e3779b97f4a7c15u; /* all digits, each once */
	case 2:
		return (uint64_t)(i % 7) << 56 | i % 3; /* the first and the last digit */
	default:
		return ~(uint64_t)(i % 11);
	}
}

/* Few rows and many, whose keys are all the same, or differ in one digit or in all. */
static void rows_are_sorted(void)
{
	static const struct crit_row_order order = { sizeof(struct item), key_of, compare_items };
	static const uint32_t sizes[] = { 0, 1, 2, 63, 64, 65, 5000 };
	static struct item items[5000];

	for (size_t size = 0; size < sizeof(sizes) / sizeof(sizes[0]); size++)
		for (unsigned int kind = 0; kind < 4; kind++) {
			const uint32_t count = sizes[size];
			uint64_t sum = 0, sorted_sum = 0;

			for (uint32_t i = 0; i < count; i++) {
				items[i] = (struct item){ some_key(kind, i), i * 2654435761u >> 29,
							  i };
				sum += items[i].key * (i + 1);
			}
			crit_array_sort_rows(items, count, &order);
			for (uint32_t i = 0; i < count; i++)
				sorted_sum += items[i].key * (items[i].came + 1);
			CHECK_UINT_EQ(sorted_sum, sum);
			for (uint32_t i = 1; i < count; i++) {
				const int way = compare_items(&items[i - 1], &items[i]);

				CHECK(way < 0 || (way == 0 && items[i - 1].came < items[i].came));
			}
		}
}

int main(void)
{
	keeps_content();
	rows_are_lines();
	rows_grow();
	numbers_are_sorted();
	rows_are_sorted();
	return check_done();
}
