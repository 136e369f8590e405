/* SPDX-License-Identifier: BSD-3-Clause */
/* All that a report says of a run: its tables, then the findings of every rule. */
#ifndef CRIT_SUMMARISE_H
#define CRIT_SUMMARISE_H

#include "report/tables/summary.h"

/*
 * Fills a summary for the writers.  Ownership: results stay the caller's and must outlive the
 * summary; crit_summary_fini frees.  Errors: -ENOMEM.
 */
int crit_summarise(struct crit_summary *summary, const struct crit_results *results,
		   const struct crit_summary_options *options);

#endif
