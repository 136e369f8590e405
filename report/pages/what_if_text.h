/* SPDX-License-Identifier: BSD-3-Clause */
/* What would help, as text. */
#ifndef CRIT_WHAT_IF_TEXT_H
#define CRIT_WHAT_IF_TEXT_H

#include <stdio.h>

#include "report/causes/fix_table.h"

void crit_what_if_text_write(FILE *out, const struct crit_fix_table *table,
			     const struct crit_results *results);

/* "25% less time between MPI_Recv a.c:1 and MPI_Send a.c:9, on 4 ranks".  Yields text. */
#define CRIT_FIX_BYTES 640
const char *crit_fix_text(const struct crit_fix_row *row, const struct crit_results *results,
			  char text[CRIT_FIX_BYTES]);

#endif
