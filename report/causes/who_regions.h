/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The regions, tasks and phases of a run as parts of who: of each process, those of one place in
 * the source are one, whatever they were begun in.
 */
#ifndef CRIT_WHO_REGIONS_H
#define CRIT_WHO_REGIONS_H

#include "analysis/schema/results.h"
#include "analysis/waits/code_keys.h"
#include "report/causes/cause_rows.h"

struct crit_who_regions;

/*
 * Those of the results, which must outlive them, like the symbols, which may be NULL.
 * Ownership: destroy frees.  Errors: NULL, out of memory.  Cost: O(regions * log regions).
 */
struct crit_who_regions *crit_who_regions_create(const struct crit_results *results,
						 struct crit_symbols *symbols);
void crit_who_regions_destroy(struct crit_who_regions *regions);

/* The innermost one that code of a key is in, or what is outside of all. */
const struct crit_who_region *crit_who_regions_find(const struct crit_who_regions *regions,
						    const struct crit_code_key *key);

#endif
