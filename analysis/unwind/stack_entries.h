/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Takes entries from critd's ring of stacks (core/abi/abi_stacks.h), which critd goes on writing.
 * Nothing in it is believed without a look.
 */
#ifndef CRIT_STACK_ENTRIES_H
#define CRIT_STACK_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/abi/abi_stacks.h"

struct crit_stack_entries {
	const struct crit_stacks_head *head; /* shared with critd */
	const unsigned char *bytes;
	uint64_t byte_count; /* as it was at the begin */
};

/* Range: memory of any content.  Ownership: borrowed.  Errors: -EPROTO, no such ring. */
int crit_stack_entries_open(const void *memory, size_t memory_bytes,
			    struct crit_stack_entries *ret_ring);

/* Up to where entries are whole, and whether more come; in this order. */
uint64_t crit_stack_entries_written(const struct crit_stack_entries *ring, bool *ret_is_over);

/* Was the position overwritten by now, so that what was read there may be anything? */
bool crit_stack_entries_is_lost(const struct crit_stack_entries *ring, uint64_t position);

/*
 * A position that an entry begins at, far enough from the writer; written, where none is known: as
 * it was asked for.  Cost: O(CRIT_STACKS_MARKS).
 */
uint64_t crit_stack_entries_oldest(const struct crit_stack_entries *ring, uint64_t written);

/*
 * The head of the entry at a position; written: as it was asked for.
 * Errors: -EOVERFLOW, it was overwritten; -EPROTO, there is none.
 */
int crit_stack_entries_look(const struct crit_stack_entries *ring, uint64_t position,
			    uint64_t written, struct crit_stacks_entry *ret_entry);

/* Copies bytes from a position on.  Errors: -EOVERFLOW, they were overwritten meanwhile. */
int crit_stack_entries_copy(const struct crit_stack_entries *ring, uint64_t position,
			    size_t byte_count, void *ret_bytes);

#endif
