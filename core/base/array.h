/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays: one function that makes room, rows by cache line, and the order of what is in them. */
#ifndef CRIT_ARRAY_H
#define CRIT_ARRAY_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CRIT_NONE 0xffffffffu /* "no such index" in every table of this room */

/* As below, where there is no room. */
int crit_array_make_room(void *array, size_t *capacity, size_t need, size_t element_bytes);

/*
 * Makes *array (of *capacity elements) hold at least need elements; new ones are zeroed.
 * Errors: -ENOMEM, the array stays as it was.  Cost: a comparison where there is room; amortised
 * O(1) per element.
 */
static inline int crit_array_grow(void *array, size_t *capacity, size_t need, size_t element_bytes)
{
	return need <= *capacity ? 0 : crit_array_make_room(array, capacity, need, element_bytes);
}

/* Negative, 0 or positive, as qsort wants it. */
static inline int crit_by_number(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/*
 * Puts numbers in the order of their keys, and those of one key as they were before.
 * keys: of each number.  Errors: -ENOMEM.  Cost: O(count + largest key).
 */
int crit_array_sort_numbers(uint32_t *numbers, size_t count, const uint32_t *keys);

struct crit_row_order {
	size_t row_bytes;
	uint64_t (*key)(const void *row); /* never less than that of a row that comes before */
	int (*compare)(const void *left, const void *right);
};

/*
 * Sorts many rows; those that compare equal stay in the order they came.  Without memory for a copy
 * it compares them all.  Cost: O(count), beside comparing those of one key.
 */
void crit_array_sort_rows(void *rows, size_t count, const struct crit_row_order *order);

/*
 * Tables whose rows begin with a cache line: where events go from row to row of a table larger than
 * the caches, each line of a row is a wait for memory.
 */
#define CRIT_LINE_BYTES 64
#define CRIT_LINE_ALIGNED __attribute__((aligned(CRIT_LINE_BYTES))) /* a struct of such a table */

/*
 * Zeroed rows from the begin of a line on; free() frees them.  A table of 4 MiB or more asks for
 * large pages: one page fault for 2 MiB, and less to translate where events go from row to row.
 * Errors: NULL, out of memory.
 */
void *crit_lines_alloc(size_t count, size_t row_bytes);

/* The same, with anything in the rows. */
void *crit_lines_room(size_t count, size_t row_bytes);

/*
 * As crit_array_grow, from the begin of a line on.  Errors: -ENOMEM, the table stays as it was.
 * Cost: amortised O(1) per row, each of which is copied.
 */
int crit_lines_grow(void *rows, size_t *capacity, size_t need, size_t row_bytes);

/* Fetches ahead the lines of what is about to be written. */
static inline void crit_lines_fetch(const void *rows, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += CRIT_LINE_BYTES)
		__builtin_prefetch((const char *)rows + i, 1);
}

#endif
