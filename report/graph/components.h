/* SPDX-License-Identifier: BSD-3-Clause */
/* Strongly connected components of a graph: sets of vertices that all reach each other. */
#ifndef CRIT_COMPONENTS_H
#define CRIT_COMPONENTS_H

#include <stddef.h>
#include <stdint.h>

struct crit_graph_edge { /* from who waits to who lets him wait */
	uint32_t from, to;
	uint64_t weight;
};

struct crit_components { /* zeroed: empty; keeps its memory from graph to graph */
	uint32_t *of_vertex; /* 0 to count - 1; an edge leads to the same or a lower number */
	size_t count;
	uint32_t *room; /* of the search */
	size_t vertex_room, room_size;
};

/*
 * Range: vertices and edges below CRIT_NONE.  Errors: -ENOMEM.  Cost: O(vertices + edges).
 * Source: Tarjan, Depth-first search and linear graph algorithms, 1972.
 */
int crit_components_find(struct crit_components *components, size_t vertex_count,
			 const struct crit_graph_edge *edges, size_t edge_count);

void crit_components_fini(struct crit_components *components);

#endif
