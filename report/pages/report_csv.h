/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of a report as files of comma-separated values. */
#ifndef CRIT_REPORT_CSV_H
#define CRIT_REPORT_CSV_H

#include <stdio.h>

#include "report/tables/summary.h"

struct crit_csv; /* one of them */

/* NULL: there is no table of that name, as of crit report --csv, or that many. */
const struct crit_csv *crit_csv_find(const char *name);
const struct crit_csv *crit_csv_at(size_t index);

const char *crit_csv_file(const struct crit_csv *csv); /* "ranks.csv" */
void crit_csv_write(const struct crit_csv *csv, FILE *out, const struct crit_summary *summary);

#endif
