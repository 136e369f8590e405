/* SPDX-License-Identifier: BSD-3-Clause */
/* What would help, as JSON: see crit-what-if(1). */
#ifndef CRIT_WHAT_IF_JSON_H
#define CRIT_WHAT_IF_JSON_H

#include <stdio.h>

#include "report/fixes/fix_table.h"
#include "report/tables/summary.h"

/* Errors: -ENOMEM, -EIO. */
int crit_what_if_json_write(FILE *out, const struct crit_fix_table *table,
			    const struct crit_summary *summary);

#endif
