/* SPDX-License-Identifier: BSD-3-Clause */
/* Turns what the account attributed into the rows of the results. */
#ifndef CRIT_TABLES_H
#define CRIT_TABLES_H

struct crit_engine;
struct crit_identity;
struct crit_messages;
struct crit_model;
struct crit_results;

/*
 * Fills threads, ranks, nodes, consistency checks, losses, messages and the heads of results, which
 * is zeroed.  Ownership: what was allocated belongs to results, also on failure.  Errors: -ENOMEM.
 */
int crit_tables_fill(struct crit_model *model, struct crit_engine *engine,
		     struct crit_messages *messages, const struct crit_identity *identity,
		     struct crit_results *results);

#endif
