/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Knots of a graph of waits: sets of vertices that others wait for, and that wait for no others.
 *
 * Edges below the least weight are dropped.  Of what is left each set without an edge to the rest
 * is looked at.  It is a knot if the others wait at least twice as much for it as it for them, by
 * all edges there are, and if an edge leads to it that was not dropped.  As long as such a set is
 * strongly connected its lightest edge is dropped, of equal ones that with the lowest vertices,
 * until it splits, but none above the most weight; then the sets without an edge to the rest of it
 * are looked at likewise, and those that are knots take its place.
 *
 * Source: Zhou et al., wPerf, OSDI'18: strongly connected components without a way out, after
 * trimming, which the user opens one by one.  That a knot has to be waited for more than it waits
 * is ours: trimming splits any graph at last, and one of equals anywhere.
 */
#ifndef CRIT_KNOTS_H
#define CRIT_KNOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/graph/components.h"

struct crit_knots_options {
	size_t vertex_count;
	struct crit_graph_edge *edges; /* one a pair at most, none to itself; they are sorted */
	size_t edge_count;
	uint64_t least_weight, most_weight;
};

struct crit_knot {
	size_t size; /* vertices in it */
	uint64_t in_weight, out_weight; /* by which the others wait for it, and it for them */
	bool is_component; /* none of it is a knot: its vertices wait for each other */
};

struct crit_knots {
	struct crit_knot *rows; /* in the order of their lowest vertices */
	size_t count;
	uint32_t *of_vertex; /* row of each; CRIT_NONE: in none */
};

/*
 * Ownership: fini by the caller.  Errors: -ENOMEM.  Cost: O(edges * log edges) for each set; once
 * that is EDGES_LOOKED_AT in all, knots are not split any more.
 */
int crit_knots_find(const struct crit_knots_options *options, struct crit_knots *ret_knots);
void crit_knots_fini(struct crit_knots *knots);

#endif
