/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of causes as text. */
#ifndef CRIT_WAITS_TEXT_H
#define CRIT_WAITS_TEXT_H

#include <stdio.h>

#include "report/causes/cause_table.h"

/* rows_max: of each of the two tables; 0: all.  Range: results those of the table. */
void crit_waits_text_write(FILE *out, const struct crit_cause_table *table,
			   const struct crit_results *results, size_t rows_max);

#endif
