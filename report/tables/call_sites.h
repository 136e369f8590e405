/* SPDX-License-Identifier: BSD-3-Clause */
/* Call sites of all processes: the same line of all ranks is one site, wherever it was loaded. */
#ifndef CRIT_CALL_SITES_H
#define CRIT_CALL_SITES_H

#include "analysis/schema/results.h"
#include "analysis/symbols/symbols.h"

struct crit_call_site_row { /* sums over the processes that call from here */
	uint32_t call;
	struct crit_source_location place;
	size_t index; /* of the first of them in the results */
	uint32_t process_count;
	uint64_t visits;
	uint64_t time_ns;
	uint64_t wait_ns;
	crit_fix all_waiting;
	uint64_t waiting_ns;
};

struct crit_call_sites;

/*
 * Joins the sites of the results by their places.  symbols may be NULL: bare addresses, not joined.
 * Ownership: destroy frees, and accepts NULL; texts of places are of symbols.  Errors: NULL when
 * out of memory.
 */
struct crit_call_sites *crit_call_sites_create(struct crit_symbols *symbols,
					       const struct crit_results *results);
void crit_call_sites_destroy(struct crit_call_sites *call_sites);

/* By all-waiting time + waiting, descending; none of NULL.  Borrowed. */
const struct crit_call_site_row *crit_call_sites_rows(const struct crit_call_sites *call_sites,
						      size_t *ret_count);

#endif
