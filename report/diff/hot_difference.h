/* SPDX-License-Identifier: BSD-3-Clause */
/* Where in the code two runs differ: shares of hot lines and functions, against their errors. */
#ifndef CRIT_HOT_DIFFERENCE_H
#define CRIT_HOT_DIFFERENCE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct crit_hot_difference_side { /* parts of the run's CMetric */
	double share;
	double error; /* its standard error, at most; less than 0: not known */
	bool is_there;
};

struct crit_hot_difference_row {
	char *function; /* whole; or the program or library, or what is not code */
	char *file; /* name without folders; "" of a function, or not known */
	long long line; /* 0: a function, or not known */
	bool is_line;
	struct crit_hot_difference_side sides[2];
	double change; /* of B over A */
	double error; /* of that; less than 0: not known */
	bool is_changed; /* by more than two standard errors */
};

struct crit_hot_difference {
	struct crit_hot_difference_row *rows; /* lines first; then what changed; then by how much */
	size_t count, capacity;
};

/*
 * Pairs hot[] of two reports: lines by function, file and line, functions by name.  No rows where
 * either has no samples.  A row that one run lacks is 0 there, to what its samples can exclude.
 * Ownership: fini frees, also after an error.  Errors: -ENOMEM.
 */
int crit_hot_difference_init(struct crit_hot_difference *hot, const json_t *const reports[2]);
void crit_hot_difference_fini(struct crit_hot_difference *hot);

#endif
