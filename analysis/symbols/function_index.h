/* SPDX-License-Identifier: BSD-3-Clause */
/* Which function of a unit an address is in, and which calls there were inlined. */
#ifndef CRIT_FUNCTION_INDEX_H
#define CRIT_FUNCTION_INDEX_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/array.h"

struct crit_function { /* with code of its own, or a call that was inlined */
	uint32_t die; /* bytes from the begin of the unit */
	uint32_t parent; /* what it lies in; CRIT_NONE: the unit */
	uint32_t name; /* for who uses the index; CRIT_NONE at first */
	bool is_inlined;
};

struct crit_function_index {
	struct crit_function *functions; /* parents before what lies in them */
	size_t function_count, function_capacity;
	uint64_t *begins; /* sorted; of stretches with one innermost function */
	uint32_t *owners; /* their functions; CRIT_NONE: none */
	size_t stretch_count;
	bool is_cut; /* the unit has more than an index may hold */
};

/*
 * Reads a unit's functions, wherever they lie: in namespaces, modules, classes and functions.
 * Where ranges overlap, the one that begins last counts, of those the innermost, then the first.
 * Range: zeroed memory.  Ownership: fini frees, also after an error.  Errors: -ENOMEM.
 * Cost: a look at each DIE outside of types without functions, at most ten million; 16 bytes per
 * function and 12 per stretch, of which a range makes at most two.
 */
int crit_function_index_init(struct crit_function_index *index, Dwarf_Die *unit);
void crit_function_index_fini(struct crit_function_index *index);

/* The innermost function an address is in; CRIT_NONE none.  Cost: a binary search. */
uint32_t crit_function_index_find(const struct crit_function_index *index, uint64_t address);

#endif
