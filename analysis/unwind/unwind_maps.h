/* SPDX-License-Identifier: BSD-3-Clause */
/* Which file the code at each address of a process is from. */
#ifndef CRIT_UNWIND_MAPS_H
#define CRIT_UNWIND_MAPS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/symbols/mapped_files.h"

#define CRIT_UNWIND_NO_FILE 0xfffffffeu /* code that is in no file: compiled at run time */
#define CRIT_UNWIND_DISPUTED 0xfffffffdu /* code of different files at different times */

struct crit_unwind_mapping { /* code */
	uint64_t begin;
	uint64_t end;
	uint64_t base; /* address of the first byte of the file */
	uint32_t file; /* index into files, or one of the above */
	uint32_t reserved;
};

struct crit_unwind_maps { /* zeroed: nothing is known */
	struct crit_unwind_mapping *mappings; /* apart from each other, in order */
	size_t mapping_count, mapping_capacity;
};

/*
 * Takes in a text of /proc/PID/maps; a last line without its end is left out.  A second text is of
 * the same process at another time: where both know an address and disagree, it is unknown from
 * then on.
 * Range: any bytes, at most 65,536 mappings of code.  Errors: -ENOMEM; -E2BIG; maps stay as they
 * were.
 */
int crit_unwind_maps_add(struct crit_unwind_maps *maps, struct crit_mapped_files *files,
			 const char *text, size_t text_bytes);
void crit_unwind_maps_fini(struct crit_unwind_maps *maps);

/*
 * What holds between two times: an address that both maps know and disagree on is unknown.
 * Ownership: ret_both is the caller's, zeroed before.  Errors: -ENOMEM; -E2BIG; it stays empty.
 */
int crit_unwind_maps_join(const struct crit_unwind_maps *left, const struct crit_unwind_maps *right,
			  struct crit_unwind_maps *ret_both);

/* The mapping of an address; NULL none.  Cost: a binary search.  Borrowed until the next add. */
static inline const struct crit_unwind_mapping *
crit_unwind_maps_find(const struct crit_unwind_maps *maps, uint64_t address)
{
	const struct crit_unwind_mapping *at = maps->mappings;
	size_t count = maps->mapping_count;

	while (count > 1) { /* the last one that begins at the address or below */
		at += at[count / 2].begin <= address ? count / 2 : 0;
		count -= count / 2;
	}
	return count && at->begin <= address && address < at->end ? at : NULL;
}

#endif
