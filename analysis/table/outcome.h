/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns what the engine dealt out into the rows of the results. */
#ifndef CRIT_OUTCOME_H
#define CRIT_OUTCOME_H

#include "analysis/account/engine.h"
#include "analysis/mpi/messages.h"
#include "analysis/model/model.h"

/*
 * Fills what is known before anything was played: heads, nodes, ranks and threads without figures.
 * ret_rank_rows maps a rank of the model to its row, ret_thread_rows a life.
 * Ownership: as below; the caller frees both maps.  Errors: -ENOMEM.
 */
int crit_outcome_identify(const struct crit_model *model, const struct crit_engine *engine,
			  struct crit_results *results, uint32_t **ret_rank_rows,
			  uint32_t **ret_thread_rows);

/*
 * Fills threads, ranks, nodes, laws, losses, messages and the heads of results, which is zeroed.
 * Ownership: what was allocated belongs to results, also on failure.  Errors: -ENOMEM.
 */
int crit_outcome_fill(struct crit_model *model, struct crit_engine *engine,
		      struct crit_messages *messages, struct crit_results *results);

/* Fills calls and sites.  rank_rows maps a model's rank to its row.  Errors: -ENOMEM. */
int crit_outcome_fill_calls(const struct crit_model *model, const struct crit_engine *engine,
			    const uint32_t *rank_rows, struct crit_results *results);

/* Fills regions and their parts; maps as in identify.  Errors: -ENOMEM. */
int crit_outcome_fill_regions(const struct crit_model *model, struct crit_engine *engine,
			      const uint32_t *rank_rows, const uint32_t *thread_rows,
			      struct crit_results *results);

/* Adds the final counters of all streams of app threads to their buckets.  Errors: -ENOMEM. */
int crit_outcome_add_counters(const struct crit_model *model, struct crit_engine *engine);

#endif
