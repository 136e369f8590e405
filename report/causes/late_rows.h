/* SPDX-License-Identifier: BSD-3-Clause */
/* Single acts that others waited for, by who and where in the code. */
#ifndef CRIT_LATE_ROWS_H
#define CRIT_LATE_ROWS_H

#include <stdbool.h>

#include "analysis/schema/results.h"
#include "analysis/waits/code_keys.h"
#include "analysis/waits/backwards/costs.h"

struct crit_code_places;
struct crit_late_row;
struct crit_who_rule;

/*
 * Those of the costs, in their order.  rule: who they are told by.
 * Ownership: free() by the caller.  Errors: NULL, out of memory.
 */
struct crit_late_row *crit_late_rows_create(const struct crit_costs *costs,
					    const struct crit_code_key *keys,
					    const struct crit_results *results,
					    const struct crit_code_places *places,
					    const struct crit_who_rule *rule);

#endif
