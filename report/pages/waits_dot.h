/* SPDX-License-Identifier: BSD-3-Clause */
/* Who waits for whom as a graph in the language DOT, for graphviz. */
#ifndef CRIT_WAITS_DOT_H
#define CRIT_WAITS_DOT_H

#include <stdbool.h>
#include <stdio.h>

#include "report/causes/cause_table.h"

/*
 * A node for each rank or thread, with its cost, and an edge from who waits to who lets it wait.
 * table: by rank or by thread, of the results.  has_all: else edges with less than 1 % of the
 * largest impact are left out.
 */
void crit_waits_dot_write(FILE *out, const struct crit_cause_table *table,
			  const struct crit_results *results, bool has_all);

#endif
