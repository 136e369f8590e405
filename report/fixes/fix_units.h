/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between which threads of a run without ranks code is balanced: those that lost time is divided
 * between (lost_units.h), so not a main thread that only waits for its workers.
 *
 * Ranks do the same code, so all of it is balanced place by place.  Threads do not: where one
 * blocks another one need not, and then their code between blocks has other bounds.  All that they
 * do is balanced as one.
 */
#ifndef CRIT_FIX_UNITS_H
#define CRIT_FIX_UNITS_H

#include "report/causes/fix_sites.h"

struct crit_fix_units {
	bool *is_working; /* of each thread; NULL: a run with ranks */
	double *thread_ns; /* code of each one that works */
	double mean_ns; /* of these */
	size_t count; /* of those with code */
};

/* Ownership: fini frees, also after an error.  Errors: -ENOMEM. */
int crit_fix_units_make(const struct crit_fix_input *input, struct crit_fix_units *ret_units);
void crit_fix_units_fini(struct crit_fix_units *units);

static inline bool crit_fix_units_has(const struct crit_fix_units *units,
				      const struct crit_who *who)
{
	return !units->is_working || (who->thread != CRIT_NONE && units->is_working[who->thread]);
}

/* The mean time of those that work in a site, and how many these are. */
double crit_fix_units_mean(const struct crit_fix_units *units, const struct crit_fix_sites *sites,
			   const struct crit_fix_site *site, uint32_t *ret_count);

#endif
