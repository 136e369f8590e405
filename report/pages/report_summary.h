/* SPDX-License-Identifier: BSD-3-Clause */
/* The figures of the first screen for scripts, "window_s: 1.050000", one a line. */
#ifndef CRIT_REPORT_SUMMARY_H
#define CRIT_REPORT_SUMMARY_H

#include <stdio.h>

#include "report/tables/summary.h"

void crit_write_summary(FILE *out, const struct crit_summary *summary);

#endif
