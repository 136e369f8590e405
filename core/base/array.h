/* SPDX-License-Identifier: BSD-3-Clause */
/* Growing arrays: one function that makes room; and the order of what is in them. */
#ifndef CRIT_ARRAY_H
#define CRIT_ARRAY_H

#include <stddef.h>
#include <stdint.h>

#define CRIT_NONE 0xffffffffu /* "no such index" in every table of this room */

/*
 * Makes *array (of *capacity elements) hold at least need elements; new ones are zeroed.
 * Errors: -ENOMEM, the array stays as it was.  Cost: amortised O(1) per element.
 */
int crit_array_grow(void *array, size_t *capacity, size_t need, size_t element_bytes);

/* Negative, 0 or positive, as qsort wants it. */
static inline int crit_by_number(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

#endif
