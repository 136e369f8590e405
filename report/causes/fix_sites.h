/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Code that a change may be of: what lies between two calls, and functions, by samples.
 *
 * Units are ranks, or threads in runs without.  Of the time in which a thread runs in a bucket of
 * the film a function has the part that it has of the samples there; so its times are estimates.
 */
#ifndef CRIT_FIX_SITES_H
#define CRIT_FIX_SITES_H

#include "analysis/schema/results.h"
#include "analysis/waits/backwards/costs.h"
#include "analysis/waits/filming.h"
#include "report/causes/cause_rows.h"
#include "report/causes/code_places.h"

struct crit_fix_input {
	const struct crit_costs *costs;
	const struct crit_code_key *keys; /* the buckets of the costs */
	struct crit_code_places *places; /* of these */
	const struct crit_filmed_samples *samples; /* in these */
	const struct crit_results *results;
	struct crit_symbols
		*symbols; /* may be NULL: places of ranks are not joined, no functions */
	struct crit_filmed_run *run;
};

struct crit_fix_site { /* of all units together */
	const struct crit_code_place *place; /* borrowed */
	double ns, path_ns; /* the time they spend there; on the critical path */
	uint32_t unit_count; /* that are there */
	uint64_t sample_count; /* of a function */
	/* of a function: what its samples stand for, sums of squares of each one and of units */
	double sampled_ns, sample_squares, unit_squares;
	size_t first_part, part_count;
};

struct crit_fix_part { /* what a unit spends there in one bucket */
	struct crit_who who; /* its unit */
	uint32_t site;
	uint32_t bucket;
	uint32_t sample_count;
	double sampled_ns, sample_squares; /* likewise */
	double share; /* of the bucket's time */
	double unit_ns; /* of its unit in the site, in all buckets */
};

struct crit_fix_sites {
	struct crit_fix_site *rows; /* by place */
	size_t count;
	struct crit_fix_part *parts; /* of each site, by unit, then bucket */
	size_t part_count;
};

/* Is a bucket one in which a thread is there, and in no call? */
bool crit_fix_is_code(const struct crit_fix_input *input, uint32_t bucket);

/* Ownership: fini frees, also after an error; places are the input's.  Errors: -ENOMEM. */
int crit_fix_sites_make(const struct crit_fix_input *input, struct crit_fix_sites *ret_sites);
/* Likewise, of code between calls alone. */
int crit_fix_sites_make_calls(const struct crit_fix_input *input, struct crit_fix_sites *ret_sites);
void crit_fix_sites_fini(struct crit_fix_sites *sites);

/*
 * Do units spend different times in a function, or does it look so by chance alone?  Of code
 * between calls times are known: true.
 * Source: Pearson's test of equal parts, 1900, of samples that stand for unlike times; by the cube
 * root of Wilson and Hilferty, The distribution of chi-square, 1931; three standard deviations.
 */
bool crit_fix_site_is_uneven(const struct crit_fix_site *site);

#endif
