/* SPDX-License-Identifier: BSD-3-Clause */
/* DWARF: the function and line of an address of a module, and what they were inlined into. */
#ifndef CRIT_DEBUG_INFO_H
#define CRIT_DEBUG_INFO_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/symbols/function_index.h"

#define CRIT_INLINED_MAX 64 /* levels of a chain */

struct crit_debug_unit { /* a compilation unit */
	Dwarf_Die die;
	Dwarf_Die split; /* of its .dwo file; else the same */
	bool has_index; /* it was asked for */
	struct crit_function_index index;
};

struct crit_debug_range { /* code of a unit */
	uint64_t begin;
	uint64_t end;
	uint64_t end_max; /* largest end up to here */
	uint32_t unit;
};

struct crit_debug_name { /* of a function that was asked for */
	char *function; /* demangled; NULL unknown */
	const void *source; /* differs between functions of the source */
	const char *call_file; /* where it was inlined; NULL: it was not, or unknown */
	uint32_t call_line;
	uint64_t directive; /* where the code of an OpenMP construct begins; 0: it is none's */
};

struct crit_debug_info {
	struct crit_debug_unit *units;
	size_t unit_count, unit_capacity;
	struct crit_debug_range *ranges; /* sorted by begin */
	size_t range_count, range_capacity;
	struct crit_debug_name *names;
	size_t name_count, name_capacity;
	size_t function_count; /* in the indexes of all units */
};

struct crit_debug_frame { /* all texts are borrowed */
	const char *function; /* NULL unknown */
	const char *file; /* NULL unknown */
	uint32_t line; /* in function; 0 unknown */
};

struct crit_debug_chain { /* innermost first, the last one with code of its own */
	uint32_t frame_count; /* 0: nothing is known */
	uint32_t cut_count; /* levels left out before the last */
	const char *directory; /* of relative names of files; NULL unknown */
	struct crit_debug_frame frames[CRIT_INLINED_MAX];
};

/*
 * Lists the units of a module's DWARF and their code: not every compiler writes .debug_aranges.
 * Range: zeroed memory.  Ownership: fini frees; dwarf must outlive it.  Errors: -ENOMEM; units that
 * make no sense end the list.  Cost: one DIE per unit.
 */
int crit_debug_info_init(struct crit_debug_info *info, Dwarf *dwarf);
void crit_debug_info_fini(struct crit_debug_info *info);

/*
 * Function and line of an address of the DWARF, and the calls that were inlined around it, with the
 * line of each.  The first byte of what compilers make of an OpenMP construct is the directive.
 * Ownership: texts live as long as info.
 * Cost: a unit's line table and DIEs, at most ten million, when it is first asked for; a function's
 * name when that is; else two binary searches.
 */
void crit_debug_info_find(struct crit_debug_info *info, uint64_t address,
			  struct crit_debug_chain *ret_chain);

#endif
