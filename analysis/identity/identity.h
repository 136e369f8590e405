/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows of the results for ranks and threads of the model, and what those rows say of them
 * without figures.  Known once the index pass is over, so the replay's listeners and the results
 * use the same.
 */
#ifndef CRIT_IDENTITY_H
#define CRIT_IDENTITY_H

#include "analysis/model/model.h"

struct crit_identity {
	uint32_t *rank_rows; /* rank of the model -> row of ranks */
	uint32_t *thread_rows; /* thread -> row of threads */
};

/* Sorts ranks and threads.  Errors: -ENOMEM; fini is due then as well. */
int crit_identity_init(struct crit_identity *identity, const struct crit_model *model);
void crit_identity_fini(struct crit_identity *identity);

/*
 * Fills heads, nodes, ranks and threads of results, which is zeroed but for its rule.
 * Ownership: what was allocated belongs to results, also on failure.  Errors: -ENOMEM.
 */
int crit_identity_fill(const struct crit_identity *identity, const struct crit_model *model,
		       struct crit_results *results);

#endif
