/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of causes as one object of JSON, crit-waits/1; crit-waits(1) has its keys. */
#ifndef CRIT_WAITS_JSON_H
#define CRIT_WAITS_JSON_H

#include <stdio.h>

#include "report/causes/cause_table.h"
#include "report/tables/summary.h"

/* Range: a summary of the results of the table.  Errors: -ENOMEM, -EIO. */
int crit_waits_json_write(FILE *out, const struct crit_cause_table *table,
			  const struct crit_summary *summary);

#endif
