/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of the results for regions and what each thread did in them. */
#ifndef CRIT_REGION_ROWS_H
#define CRIT_REGION_ROWS_H

#include "analysis/account/engine.h"
#include "analysis/model/model.h"

/* Fills regions and their parts; maps as in identity.h.  Errors: -ENOMEM. */
int crit_region_rows_fill(const struct crit_model *model, struct crit_engine *engine,
			  const uint32_t *rank_rows, const uint32_t *thread_rows,
			  struct crit_results *results);

#endif
