/* SPDX-License-Identifier: BSD-3-Clause */
/* How useful time is spread over many ranks. */
#ifndef CRIT_RANK_SPREAD_H
#define CRIT_RANK_SPREAD_H

#include "analysis/schema/results.h"

#define CRIT_SPREAD_CELLS_MAX 40

struct crit_rank_spread {
	size_t least_row, most_row; /* of ranks; of equal ones the last, the first */
	double least_s, quartiles_s[3], most_s;
	int cells;
	size_t counts[CRIT_SPREAD_CELLS_MAX]; /* of ranks, from the least to the most */
};

/* Counts in so many cells, CRIT_SPREAD_CELLS_MAX at most.  Errors: -ENODATA no rank, -ENOMEM. */
int crit_rank_spread_of(const struct crit_results *results, int cells,
			struct crit_rank_spread *ret_spread);

/* A cell is blank, or one of ".:+#" for a quarter of the largest count. */
const char *crit_rank_spread_histogram(const struct crit_rank_spread *spread,
				       char text[CRIT_SPREAD_CELLS_MAX + 1]);

#endif
