/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What code takes beyond its mean over all ranks: where it made the others wait, and on the
 * critical path.
 */
#ifndef CRIT_CODE_EXCESS_H
#define CRIT_CODE_EXCESS_H

#include "analysis/delays/delays.h"
#include "report/causes/fix_sites.h"

struct crit_code_excess {
	struct crit_delays delays;
	/*
	 * Of each bucket, ns: the critical path through all buckets of its code, less the mean time
	 * of that code, if it is more; by their parts of that path.  The mean is over all ranks, of
	 * as many threads as the one with most has there; without ranks, over all threads.
	 * Source: Boehme et al., Scalable critical-path based performance analysis, 2012.
	 */
	double *path_ns;
};

/*
 * Of a run that was resolved.  Ownership: fini by the caller, also after an error.
 * Errors: those of crit_fix_sites_make_calls and crit_delays_find.
 */
int crit_code_excess_make(const struct crit_fix_input *input, struct crit_code_excess *ret_excess);
void crit_code_excess_fini(struct crit_code_excess *excess);

#endif
