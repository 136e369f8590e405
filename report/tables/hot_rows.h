/* SPDX-License-Identifier: BSD-3-Clause */
/* Hot lines, functions and libraries: where in the code CMetric was earned, by samples. */
#ifndef CRIT_HOT_ROWS_H
#define CRIT_HOT_ROWS_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/schema/results.h"
#include "report/tables/region_table.h"

enum crit_hot_level {
	CRIT_HOT_LINE = 0, /* as it was written: one that was inlined is one everywhere */
	CRIT_HOT_FUNCTION, /* with code of its own: what was inlined is its part */
	CRIT_HOT_LIBRARY, /* or program */
	CRIT_HOT_LEVEL_COUNT
};

enum crit_hot_kind {
	CRIT_HOT_CODE = 0,
	CRIT_HOT_UNKNOWN, /* in no file that is known */
	CRIT_HOT_NOT_SAMPLED,
	CRIT_HOT_KIND_COUNT
};

struct crit_hot_row {
	enum crit_hot_kind kind;
	enum crit_hot_level level;
	struct crit_source_location place; /* the hottest of the row, of which the level holds */
	crit_fix cmetric; /* unit threads, scope run */
	double error_s; /* its standard error; less than 0: not known */
	double share; /* of all CMetric of the run or unit */
	double cpu_share; /* what a plain profile has */
	uint64_t samples;
	/* of the sums above */
	crit_fix hottest;
	uint64_t cpu_ns;
	double batches_s[CRIT_SAMPLE_BATCHES];
	double one_sample_s; /* the most of those joined */
};

struct crit_hot_table {
	struct crit_hot_row *rows; /* by CMetric, descending; none without samples */
	size_t count;
};

struct crit_hot_query {
	enum crit_hot_level level;
	bool is_of_unit; /* else of the whole run: of the rank, or the thread without ranks */
	size_t unit_row;
	/* not NULL: its lines alone, and those of calls that were inlined there; as crit_name_is */
	const char *function;
};

/*
 * finder->find NULL: all is unknown.  Ownership: fini frees; texts are of the finder.
 * Errors: -ENOMEM.
 */
int crit_hot_table_init(struct crit_hot_table *table, const struct crit_results *results,
			const struct crit_region_finder *finder,
			const struct crit_hot_query *query);
void crit_hot_table_fini(struct crit_hot_table *table);

/* The standard error of row + times * other, of one table, in s; less than 0: not known. */
double crit_hot_error_s(const struct crit_hot_row *row, double times,
			const struct crit_hot_row *other, uint32_t batch_count);

/* "line", "function", "library": the level named so, or CRIT_HOT_LEVEL_COUNT. */
enum crit_hot_level crit_hot_level_parse(const char *name);

const char *crit_hot_kind_name(enum crit_hot_kind kind);

/* "smooth solver.c:42", "smooth", "libm.so.6", as the level of the row has it. */
const char *crit_hot_text(const struct crit_hot_row *row, char *text, size_t text_bytes);

#endif
