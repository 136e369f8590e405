/* SPDX-License-Identifier: BSD-3-Clause */
/* The sentence a report begins with: where most time is lost, and whose work stands out. */
#ifndef CRIT_VERDICT_H
#define CRIT_VERDICT_H

#include "report/tables/summary.h"

/* Fills verdict, sentence and what it promises. */
void crit_verdict_find(struct crit_summary *summary);

#endif
