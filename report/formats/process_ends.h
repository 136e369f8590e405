/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes that are not recorded to their end, for report.txt and report.json. */
#ifndef CRIT_CLI_PROCESS_ENDS_H
#define CRIT_CLI_PROCESS_ENDS_H

#include "report/tables/summary.h"

/* Adds them to what is missing. */
void crit_summary_find_ends(struct crit_summary *summary);

#endif
