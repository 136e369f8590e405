/* SPDX-License-Identifier: BSD-3-Clause */
/* What a run lacks, and the command that fixes it. */
#ifndef CRIT_MISSING_H
#define CRIT_MISSING_H

#include "report/tables/summary.h"

/* Adds all rows of missing: of nodes, losses, programs, and what the user left out. */
void crit_missing_find(struct crit_summary *summary, const struct crit_summary_options *options);

#endif
