/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables behind the first screen of report.txt. */
#ifndef CRIT_REPORT_DETAILS_H
#define CRIT_REPORT_DETAILS_H

#include <stdio.h>

#include "report/tables/summary.h"

void crit_write_details(FILE *out, const struct crit_summary *summary);

#endif
