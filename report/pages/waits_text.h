/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of causes and the graph of waits as text. */
#ifndef CRIT_WAITS_TEXT_H
#define CRIT_WAITS_TEXT_H

#include <stdio.h>

#include "report/graph/wait_graph.h"

/* rows_max: of each table; 0: all.  Range: results those of the graph. */
void crit_waits_text_write(FILE *out, const struct crit_wait_graph *graph,
			   const struct crit_results *results, size_t rows_max);

#endif
