/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long each unit of a run spends in its code between calls, by names that the code keeps when
 * it is changed: the calls and the functions they are in, without lines.
 */
#ifndef CRIT_CODE_TIMES_H
#define CRIT_CODE_TIMES_H

#include "report/causes/fix_sites.h"

struct crit_code_time { /* of one unit, all code with that name */
	int64_t unit; /* number of its rank; without ranks, of the thread's row */
	char *name;
	double ns;
};

struct crit_code_times {
	struct crit_code_time *rows; /* by unit, then name */
	size_t count;
	uint32_t *bucket_rows; /* of each bucket; CRIT_NONE: no code between calls */
	double ns; /* of all */
};

/* Ownership: fini frees, also after an error.  Errors: -ENOMEM. */
int crit_code_times_make(const struct crit_fix_input *input, struct crit_code_times *ret_times);
void crit_code_times_fini(struct crit_code_times *times);

int crit_code_time_compare(const struct crit_code_time *left, const struct crit_code_time *right);

#endif
