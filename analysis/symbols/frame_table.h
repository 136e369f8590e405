/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where functions begin in a program without symbols for them: linkers sort the begin of all code
 * that .eh_frame describes into a table (.eh_frame_hdr; Linux Standard Base, 10.6.2), which is
 * loaded, so that no strip removes it.
 */
#ifndef CRIT_FRAME_TABLE_H
#define CRIT_FRAME_TABLE_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

struct crit_frame_range { /* of code, as program headers have it */
	uint64_t begin;
	uint64_t next; /* the next begin; UINT64_MAX: there is none */
};

/*
 * The last begin at or before an address.  Whether the code goes on up to there the CFI says.
 * False: there is none, or the table is not one that linkers write.  Cost: a binary search.
 */
bool crit_frame_table_find(Elf *elf, uint64_t address, struct crit_frame_range *ret_range);

#endif
