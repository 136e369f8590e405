/* SPDX-License-Identifier: BSD-3-Clause */
/* The rank or thread that lost its CPU most, and the preemptor. */
#ifndef CRIT_PREEMPTED_H
#define CRIT_PREEMPTED_H

#include "report/tables/summary.h"

/* Fills preempted_note. */
void crit_preempted_find(struct crit_summary *summary);

#endif
