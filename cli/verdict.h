/* SPDX-License-Identifier: BSD-3-Clause */
/* The one sentence a report begins with. */
#ifndef CRIT_VERDICT_H
#define CRIT_VERDICT_H

#include "cli/summary.h"

/* Fills verdict, sentence, may_wait_note and stake_s; the orders and sums must be there. */
void crit_verdict_find(struct crit_summary *summary, const struct crit_results *may_wait);

#endif
