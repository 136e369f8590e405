/* SPDX-License-Identifier: BSD-3-Clause */
/* A binary heap of cursors: which source comes next by (time, order). */
#ifndef CRIT_MERGE_H
#define CRIT_MERGE_H

#include <stdbool.h>
#include <stdint.h>

struct crit_cursor {
	uint64_t time_ns;
	uint32_t order; /* of equal stamps: a source's fixed number */
};

struct crit_merge {
	struct crit_cursor *heap;
	uint32_t count;
	uint32_t *place; /* order -> index in heap, CRIT_NONE */
};

/* Range: orders below order_count.  Errors: -ENOMEM. */
int crit_merge_init(struct crit_merge *merge, uint32_t order_count);
void crit_merge_fini(struct crit_merge *merge);

void crit_merge_add(struct crit_merge *merge, uint32_t order, uint64_t time_ns);

/* A source's next stamp is a later one.  Cost: two comparisons while it stays the earliest. */
void crit_merge_delay(struct crit_merge *merge, uint32_t order, uint64_t time_ns);

void crit_merge_remove(struct crit_merge *merge, uint32_t order);

#endif
