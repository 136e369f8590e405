/* SPDX-License-Identifier: BSD-3-Clause */
/* report.json, schema crit-report/2. */
#ifndef CRIT_REPORT_JSON_H
#define CRIT_REPORT_JSON_H

#include <stdio.h>

#include "report/tables/summary.h"

/* Errors: -ENOMEM, -EIO. */
int crit_write_json(FILE *out, const struct crit_summary *summary);

#endif
