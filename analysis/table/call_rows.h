/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of the results for calls and call sites, summed from the buckets of app threads. */
#ifndef CRIT_CALL_ROWS_H
#define CRIT_CALL_ROWS_H

#include "analysis/account/engine.h"
#include "analysis/model/model.h"

/* Adds the final counters of all streams of app threads to their buckets.  Errors: -ENOMEM. */
int crit_call_rows_add_counters(const struct crit_model *model, struct crit_engine *engine);

/* Fills calls and sites.  rank_rows maps a model's rank to its row.  Errors: -ENOMEM. */
int crit_call_rows_fill(const struct crit_model *model, const struct crit_engine *engine,
			const uint32_t *rank_rows, struct crit_results *results);

#endif
