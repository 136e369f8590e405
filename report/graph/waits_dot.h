/* SPDX-License-Identifier: BSD-3-Clause */
/* Who waits for whom as a graph in the language DOT, for graphviz. */
#ifndef CRIT_WAITS_DOT_H
#define CRIT_WAITS_DOT_H

#include <stdbool.h>
#include <stdio.h>

#include "report/graph/wait_graph.h"

/*
 * A node for each rank or thread, with its cost and a second frame where it is of a knot, and an
 * edge from who waits to who lets it wait.  graph: of ranks or of threads, of the results.
 * has_all: else edges with less than 1 % of the largest impact are left out.
 */
void crit_waits_dot_write(FILE *out, const struct crit_wait_graph *graph,
			  const struct crit_results *results, bool has_all);

#endif
