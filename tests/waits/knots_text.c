// SPDX-License-Identifier: BSD-3-Clause
// crit-knots-find: finds the knots of graphs that stdin describes in words.
//
// A graph: "graph VERTICES LEAST MOST", then "edge FROM TO WEIGHT" for each edge, then "find",
// which prints "knot IN OUT IS-COMPONENT VERTEX…" for each, then "done".
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/cleanup.h"
#include "report/graph/knots.h"

static int find(const struct crit_knots_options *graph)
{
	struct crit_knots knots;
	int rc = crit_knots_find(graph, &knots);

	if (rc)
		return rc;
	for (size_t i = 0; i < knots.count; i++) {
		const struct crit_knot *knot = &knots.rows[i];
		size_t size = 0;

		printf("knot %" PRIu64 " %" PRIu64 " %d", knot->in_weight, knot->out_weight,
		       knot->is_component);
		for (size_t v = 0; v < graph->vertex_count; v++) {
			if (knots.of_vertex[v] != i)
				continue;
			printf(" %zu", v);
			size++;
		}
		putchar('\n');
		if (size != knot->size)
			rc = -EPROTO;
	}
	puts("done");
	crit_knots_fini(&knots);
	return rc;
}

int main(void)
{
	struct crit_knots_options graph = { 0 };
	crit_autofree char *line = NULL;
	size_t line_capacity = 0, edge_capacity = 0;
	int rc = 0;

	while (!rc && getline(&line, &line_capacity, stdin) > 0) {
		struct crit_graph_edge edge;

		if (sscanf(line, "graph %zu %" SCNu64 " %" SCNu64, &graph.vertex_count,
			   &graph.least_weight, &graph.most_weight) == 3) {
			graph.edge_count = 0;
		} else if (sscanf(line, "edge %" SCNu32 " %" SCNu32 " %" SCNu64, &edge.from,
				  &edge.to, &edge.weight) == 3) {
			rc = crit_array_grow(&graph.edges, &edge_capacity, graph.edge_count + 1,
					     sizeof(edge));
			if (!rc)
				graph.edges[graph.edge_count++] = edge;
		} else {
			rc = strcmp(line, "find\n") ? -EINVAL : find(&graph);
		}
	}
	if (rc)
		fprintf(stderr, "crit-knots-find: %s: %s", strerror(-rc), line);
	free(graph.edges);
	return rc ? 1 : 0;
}
