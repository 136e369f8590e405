/* SPDX-License-Identifier: BSD-3-Clause */
/* What each thread did in each joined region, and in each phase with all inside it. */
#ifndef CRIT_REGION_SHARES_H
#define CRIT_REGION_SHARES_H

#include "report/tables/region_table.h"

/*
 * Fills shares, sums, imbalances and phases of a table whose rows are joined; line_of maps the
 * results' region rows to them, the last row is what is outside all.  Errors: -ENOMEM.
 */
int crit_region_shares_fill(struct crit_region_table *table, const struct crit_results *results,
			    const uint32_t *line_of);

#endif
