/* SPDX-License-Identifier: BSD-3-Clause */
/* What the user left out of a recording, and ranks that are not in it for another reason. */
#ifndef CRIT_OMITTED_H
#define CRIT_OMITTED_H

#include "report/tables/summary.h"

/* Adds them to what is missing. */
void crit_omitted_find(struct crit_summary *summary, bool is_live);

#endif
