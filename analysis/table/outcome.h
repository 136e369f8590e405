/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns what the engine dealt out into the rows of the results. */
#ifndef CRIT_OUTCOME_H
#define CRIT_OUTCOME_H

#include "analysis/account/engine.h"
#include "analysis/identity/identity.h"
#include "analysis/mpi/messages.h"
#include "analysis/model/model.h"

/*
 * Fills threads, ranks, nodes, laws, losses, messages and the heads of results, which is zeroed.
 * Ownership: what was allocated belongs to results, also on failure.  Errors: -ENOMEM.
 */
int crit_outcome_fill(struct crit_model *model, struct crit_engine *engine,
		      struct crit_messages *messages, const struct crit_identity *identity,
		      struct crit_results *results);

/* Fills calls and sites.  rank_rows maps a model's rank to its row.  Errors: -ENOMEM. */
int crit_outcome_fill_calls(const struct crit_model *model, const struct crit_engine *engine,
			    const uint32_t *rank_rows, struct crit_results *results);

/* Fills regions and their parts; maps as in identity.h.  Errors: -ENOMEM. */
int crit_outcome_fill_regions(const struct crit_model *model, struct crit_engine *engine,
			      const uint32_t *rank_rows, const uint32_t *thread_rows,
			      struct crit_results *results);

/* Adds the final counters of all streams of app threads to their buckets.  Errors: -ENOMEM. */
int crit_outcome_add_counters(const struct crit_model *model, struct crit_engine *engine);

#endif
