/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions, phases and who took whose CPU, in every format of the report. */
#ifndef CRIT_REGION_WRITERS_H
#define CRIT_REGION_WRITERS_H

#include <stdio.h>

#include "report/tables/summary.h"

/* The tables of report.txt. */
void crit_regions_write_details(FILE *out, const struct crit_summary *summary);
void crit_rivals_write_details(FILE *out, const struct crit_summary *summary);

#endif
