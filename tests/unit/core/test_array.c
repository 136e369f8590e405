// SPDX-License-Identifier: BSD-3-Clause
// Arrays keep what is in them when they become large, and what is new in them is zero.
#include "core/base/array.h"

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

int main(void)
{
	keeps_content();
	rows_are_lines();
	return check_done();
}
