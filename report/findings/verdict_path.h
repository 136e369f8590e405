/* SPDX-License-Identifier: BSD-3-Clause */
/* Who calls the function that the verdict names. */
#ifndef CRIT_VERDICT_PATH_H
#define CRIT_VERDICT_PATH_H

#include "report/tables/summary.h"

struct crit_verdict_place { /* what the sentence names */
	size_t unit_row; /* the rank, or the thread without ranks */
	const struct crit_hot_row *function;
	const struct crit_hot_row *line; /* in it, inlined or itself; NULL: none */
};

/*
 * " (main > solve > smooth)": the last three frames by bare names, callers as far as more than half
 * of the function's CMetric comes from there, beyond chance; "": there is no such caller.
 */
void crit_verdict_path(const struct crit_summary *summary, const struct crit_verdict_place *place,
		       char *text, size_t text_bytes);

#endif
