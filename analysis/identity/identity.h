/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rows of the results for ranks and threads of the model, and what those rows say of them
 * without figures.  Known once the index pass is over, so the replay's listeners and the results
 * use the same.
 */
#ifndef CRIT_IDENTITY_H
#define CRIT_IDENTITY_H

#include <stdint.h>

struct crit_identity;
struct crit_model;
struct crit_results;

/* Sorts ranks and threads.  Errors: NULL when out of memory.  destroy accepts NULL. */
struct crit_identity *crit_identity_create(const struct crit_model *model);
void crit_identity_destroy(struct crit_identity *identity);

/* By rank of the model its row of ranks; by thread its row of threads.  Borrowed. */
const uint32_t *crit_identity_rank_rows(const struct crit_identity *identity);
const uint32_t *crit_identity_thread_rows(const struct crit_identity *identity);

/*
 * Fills heads, nodes, ranks and threads of results, which is zeroed but for its rule.
 * Ownership: what was allocated belongs to results, also on failure.  Errors: -ENOMEM.
 */
int crit_identity_fill(const struct crit_identity *identity, const struct crit_model *model,
		       struct crit_results *results);

#endif
