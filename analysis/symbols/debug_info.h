/* SPDX-License-Identifier: BSD-3-Clause */
/* DWARF: which function and line an address of a module belongs to. */
#ifndef CRIT_DEBUG_INFO_H
#define CRIT_DEBUG_INFO_H

#include <elfutils/libdw.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/array.h"

struct crit_debug_unit { /* a compilation unit */
	Dwarf_Die die;
	Dwarf_Die split; /* of its .dwo file; else the same */
};

struct crit_debug_range { /* code of a unit */
	uint64_t begin;
	uint64_t end;
	uint64_t end_max; /* largest end up to here */
	uint32_t unit;
};

struct crit_debug_info {
	struct crit_debug_unit *units;
	size_t unit_count, unit_capacity;
	struct crit_debug_range *ranges; /* sorted by begin */
	size_t range_count, range_capacity;
};

struct crit_debug_location {
	char *function; /* the innermost one, inlined ones too; demangled; NULL unknown */
	char *outer; /* the one it was inlined into; NULL: it was not */
	const char *file; /* borrowed from the DWARF */
	uint32_t line; /* 0 unknown */
};

/*
 * Lists the units of a module's DWARF and their code: not every compiler writes .debug_aranges.
 * Range: zeroed memory.  Ownership: fini frees; dwarf must outlive it.  Errors: -ENOMEM; units that
 * make no sense end the list.  Cost: one DIE per unit.
 */
int crit_debug_info_init(struct crit_debug_info *info, Dwarf *dwarf);
void crit_debug_info_fini(struct crit_debug_info *info);

/*
 * Function and line of an address of the DWARF.  Ownership: the caller frees function and outer.
 * Cost: the line table of a unit when it is first asked for; the unit's DIEs, at most ten million.
 */
void crit_debug_info_find(const struct crit_debug_info *info, uint64_t address,
			  struct crit_debug_location *ret_place);

/* A C++ name as in the source, all else as it is.  The caller frees; NULL: out of memory. */
char *crit_demangle(const char *symbol);

#endif
