/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of regions, phases and preemptions in report.txt. */
#ifndef CRIT_REGION_TEXT_H
#define CRIT_REGION_TEXT_H

#include <stdio.h>

#include "report/tables/summary.h"

void crit_region_text_write(FILE *out, const struct crit_summary *summary);
void crit_region_text_write_preemptions(FILE *out, const struct crit_summary *summary);

#endif
