/* SPDX-License-Identifier: BSD-3-Clause */
/* What waits cost, by who let others wait and where in the code; and who waited for whom. */
#ifndef CRIT_CAUSE_TABLE_H
#define CRIT_CAUSE_TABLE_H

#include "analysis/schema/results.h"
#include "analysis/waits/code_keys.h"
#include "analysis/waits/backwards/costs.h"
#include "report/causes/code_excess.h"

struct crit_code_places;
struct crit_symbols;

enum crit_cause_by {
	CRIT_CAUSE_BY_PLACE = 0, /* of each rank, or of each thread without ranks */
	CRIT_CAUSE_BY_RANK, /* or thread without ranks */
	CRIT_CAUSE_BY_THREAD,
	CRIT_CAUSE_BY_NAME, /* of all threads of a name */
	CRIT_CAUSE_BY_REGION, /* of each rank, or of each thread without ranks */
	CRIT_CAUSE_BY_SITE, /* of all ranks together */
	CRIT_CAUSE_BY_COUNT
};

struct crit_cause_table;
struct crit_who;

struct crit_cause_input {
	const struct crit_costs *costs;
	const struct crit_code_key *keys; /* the buckets of the costs */
	struct crit_code_places *places; /* of these */
	const struct crit_results *results;
	struct crit_symbols *symbols; /* may be NULL: bare addresses, not joined */
	const struct crit_code_excess *excess; /* may be NULL: not known */
};

/*
 * By region, the costs are to have vertices, of which those of a region are apart: without, pairs
 * are of ranks.
 * Ownership: destroy frees; all of the input but for the excess must outlive it.
 * Errors: NULL, out of memory.
 */
struct crit_cause_table *crit_cause_table_create(const struct crit_cause_input *input,
						 enum crit_cause_by by);
void crit_cause_table_destroy(struct crit_cause_table *table);

/* Who has a bucket, and who is a node of the costs' edges, as pairs tell them apart. */
struct crit_who crit_cause_bucket_who(const struct crit_cause_table *table,
				      const struct crit_results *results, size_t bucket);
struct crit_who crit_cause_node_who(const struct crit_cause_table *table,
				    const struct crit_results *results, uint32_t node);

/* "place", "rank", "thread", "name", "region", "site"; CRIT_CAUSE_BY_COUNT: no such word. */
enum crit_cause_by crit_cause_by_parse(const char *word);

#endif
