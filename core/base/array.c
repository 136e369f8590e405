// SPDX-License-Identifier: BSD-3-Clause
// Growing arrays, and large tables in large pages.
#include "core/base/array.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* There are arrays in each of many threads. */
#define FIRST_BYTES 256u
#define LARGE_BYTES (4u << 20) /* of a table: its pages are large ones, where the kernel has such */
#define LARGE_PAGE_BYTES ((size_t)2 << 20)

/* Whole large pages that are in it; where this is refused they stay small. */
static void ask_large_pages(void *memory, size_t bytes)
{
	const size_t before = -(uintptr_t)memory % LARGE_PAGE_BYTES;

	if (bytes >= before + LARGE_PAGE_BYTES)
		(void)madvise((char *)memory + before, (bytes - before) & -LARGE_PAGE_BYTES,
			      MADV_HUGEPAGE);
}

/*
 * Zeroes memory that malloc() gave; whole pages of a large part by giving them back, so that those
 * nobody writes to take nothing.
 */
static void zero(char *memory, size_t bytes)
{
	const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	const size_t before = -(uintptr_t)memory % page_bytes;
	const size_t whole = bytes < LARGE_BYTES ? 0 : (bytes - before) & -page_bytes;

	if (!whole || madvise(memory + before, whole, MADV_DONTNEED)) {
		memset(memory, 0, bytes);
		return;
	}
	memset(memory, 0, before);
	memset(memory + before + whole, 0, bytes - before - whole);
}

void *crit_lines_room(size_t count, size_t row_bytes)
{
	size_t bytes = count * row_bytes;
	void *rows;

	if (count > ((size_t)-1 - LARGE_PAGE_BYTES) / row_bytes)
		return NULL;
	if (bytes < LARGE_BYTES)
		return aligned_alloc(CRIT_LINE_BYTES,
				     (bytes + CRIT_LINE_BYTES - 1) & -(size_t)CRIT_LINE_BYTES);
	bytes = (bytes + LARGE_PAGE_BYTES - 1) & -LARGE_PAGE_BYTES;
	rows = aligned_alloc(LARGE_PAGE_BYTES, bytes);
	if (rows)
		ask_large_pages(rows, bytes);
	return rows;
}

void *crit_lines_alloc(size_t count, size_t row_bytes)
{
	void *rows = crit_lines_room(count, row_bytes);

	if (rows)
		zero(rows, count * row_bytes);
	return rows;
}

int crit_lines_grow(void *rows, size_t *capacity, size_t need, size_t row_bytes)
{
	const size_t twice = *capacity * 2, wanted = need > twice ? need : twice;
	void *old, *grown;

	if (need <= *capacity)
		return 0;
	memcpy(&old, rows, sizeof(old));
	grown = crit_lines_alloc(wanted, row_bytes);
	if (!grown)
		return -ENOMEM;
	if (old)
		memcpy(grown, old, *capacity * row_bytes);
	free(old);
	memcpy(rows, &grown, sizeof(grown));
	*capacity = wanted;
	return 0;
}

/* Once an array is large, pages of it are moved and not copied. */
static void *resize(void *old, size_t old_bytes, size_t count, size_t element_bytes)
{
	void *grown;

	if (count <= LARGE_BYTES / element_bytes || old_bytes >= LARGE_BYTES) {
		grown = reallocarray(old, count, element_bytes);
		if (grown)
			ask_large_pages((char *)grown + old_bytes,
					count * element_bytes - old_bytes);
		return grown;
	}
	grown = crit_lines_room(count, element_bytes);
	if (grown && old)
		memcpy(grown, old, old_bytes);
	if (grown)
		free(old);
	return grown;
}

int crit_array_make_room(void *array, size_t *capacity, size_t need, size_t element_bytes)
{
	size_t wanted = *capacity ? *capacity * 2 : FIRST_BYTES / element_bytes;
	const size_t old_bytes = *capacity * element_bytes;
	void *old;
	void *grown;

	if (wanted < need)
		wanted = need;
	memcpy(&old, array, sizeof(old));
	grown = resize(old, old_bytes, wanted, element_bytes);
	if (!grown)
		return -ENOMEM;
	zero((char *)grown + old_bytes, wanted * element_bytes - old_bytes);
	memcpy(array, &grown, sizeof(grown));
	*capacity = wanted;
	return 0;
}

int crit_array_sort_numbers(uint32_t *numbers, size_t count, const uint32_t *keys)
{
	size_t key_count = 0, *ends; /* of each key what came so far */
	uint32_t *unsorted = malloc((count + 1) * sizeof(*unsorted));
	bool has_room;

	for (size_t i = 0; i < count; i++)
		if (keys[numbers[i]] >= key_count)
			key_count = (size_t)keys[numbers[i]] + 1;
	ends = calloc(key_count + 1, sizeof(*ends));
	has_room = ends && unsorted;
	for (size_t i = 0; has_room && i < count; i++)
		ends[keys[numbers[i]] + 1]++;
	for (size_t i = 0; has_room && i < key_count; i++)
		ends[i + 1] += ends[i];
	if (has_room)
		memcpy(unsorted, numbers, count * sizeof(*numbers));
	for (size_t i = 0; has_room && i < count; i++)
		numbers[ends[keys[unsorted[i]]]++] = unsorted[i];
	free(ends);
	free(unsorted);
	return has_room ? 0 : -ENOMEM;
}

#define DIGIT_BITS 8u
#define DIGITS (1u << DIGIT_BITS)
#define SORTED_AT_ONCE 64u /* fewer rows are compared */

struct keyed {
	uint64_t key;
	const char *row;
};

static void sort_by_digit(const struct keyed *from, struct keyed *to, size_t count,
			  unsigned int shift)
{
	size_t ends[DIGITS + 1] = { 0 }; /* of each digit what came so far */

	for (size_t i = 0; i < count; i++)
		ends[(from[i].key >> shift) % DIGITS + 1]++;
	for (size_t digit = 1; digit < DIGITS; digit++)
		ends[digit] += ends[digit - 1];
	for (size_t i = 0; i < count; i++)
		to[ends[(from[i].key >> shift) % DIGITS]++] = from[i];
}

/* By their keys; there is room for as many behind them.  Returns where they are then. */
static const struct keyed *sort_by_key(struct keyed *from, size_t count)
{
	struct keyed *to = from + count;
	uint64_t differs = 0;

	for (size_t i = 1; i < count; i++)
		differs |= from[i].key ^ from[0].key;
	for (unsigned int shift = 0; shift < 64; shift += DIGIT_BITS) {
		struct keyed *sorted = to;

		if (!(differs >> shift & (DIGITS - 1)))
			continue;
		sort_by_digit(from, to, count, shift);
		to = from;
		from = sorted;
	}
	return from;
}

/* Rows of one key, which often are in order as they came. */
static void sort_equals(char *rows, size_t count, size_t row_bytes,
			int (*compare)(const void *, const void *))
{
	for (size_t i = 1; i < count; i++)
		if (compare(rows + (i - 1) * row_bytes, rows + i * row_bytes) > 0) {
			qsort(rows, count, row_bytes, compare);
			return;
		}
}

void crit_array_sort_rows(void *rows, size_t count, const struct crit_row_order *order)
{
	const size_t row_bytes = order->row_bytes;
	const bool is_small = count < SORTED_AT_ONCE;
	struct keyed *unsorted = is_small ? NULL : crit_lines_room(2 * count, sizeof(*unsorted));
	char *copy = is_small ? NULL : crit_lines_room(count, row_bytes);
	const struct keyed *sorted;
	size_t first = 0;

	for (size_t i = 0; unsorted && copy && i < count; i++) {
		const char *row = (const char *)rows + i * row_bytes;

		unsorted[i] = (struct keyed){ order->key(row), row };
	}
	if (!unsorted || !copy) {
		if (count)
			qsort(rows, count, row_bytes, order->compare);
		free(unsorted);
		free(copy);
		return;
	}
	sorted = sort_by_key(unsorted, count);
	for (size_t i = 0; i < count; i++)
		memcpy(copy + i * row_bytes, sorted[i].row, row_bytes);
	memcpy(rows, copy, count * row_bytes);
	for (size_t i = 1; i <= count; i++)
		if (i == count || sorted[i].key != sorted[first].key) {
			sort_equals((char *)rows + first * row_bytes, i - first, row_bytes,
				    order->compare);
			first = i;
		}
	free(unsorted);
	free(copy);
}
