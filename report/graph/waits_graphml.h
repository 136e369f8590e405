/* SPDX-License-Identifier: BSD-3-Clause */
/* Who waits for whom as a graph in GraphML, for yEd, Gephi, networkx and the like. */
#ifndef CRIT_WAITS_GRAPHML_H
#define CRIT_WAITS_GRAPHML_H

#include <stdio.h>

#include "report/graph/wait_graph.h"

/*
 * A node for each rank or thread, with its cost and the number of its knot, and an edge from who
 * waits to who lets it wait, with all that its pair has.  Range: results those of the graph.
 */
void crit_waits_graphml_write(FILE *out, const struct crit_wait_graph *graph,
			      const struct crit_results *results);

#endif
