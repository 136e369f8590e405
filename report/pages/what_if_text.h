/* SPDX-License-Identifier: BSD-3-Clause */
/* What would help, as text. */
#ifndef CRIT_WHAT_IF_TEXT_H
#define CRIT_WHAT_IF_TEXT_H

#include <stdio.h>

#include "report/fixes/fix_table.h"
#include "report/tables/summary.h"

void crit_what_if_text_write(FILE *out, const struct crit_fix_table *table,
			     const struct crit_summary *summary);

#endif
