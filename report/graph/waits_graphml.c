// SPDX-License-Identifier: BSD-3-Clause
// Nodes and edges with their figures, as GraphML 1.0 has them.
#include "report/graph/waits_graphml.h"

#include <string.h>

#include "core/base/line.h"
#include "report/causes/cause_words.h"

static const char head[] =
	"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	"<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"
	" <key id=\"label\" for=\"node\" attr.name=\"label\" attr.type=\"string\"/>\n"
	" <key id=\"cost\" for=\"node\" attr.name=\"cost_s\" attr.type=\"double\"/>\n"
	" <key id=\"knot\" for=\"node\" attr.name=\"knot\" attr.type=\"int\"/>\n"
	" <key id=\"waited\" for=\"edge\" attr.name=\"waited_s\" attr.type=\"double\"/>\n"
	" <key id=\"self\" for=\"edge\" attr.name=\"self_s\" attr.type=\"double\"/>\n"
	" <key id=\"impact\" for=\"edge\" attr.name=\"impact_s\" attr.type=\"double\"/>\n"
	" <key id=\"waits\" for=\"edge\" attr.name=\"waits\" attr.type=\"long\"/>\n"
	" <graph id=\"waits\" edgedefault=\"directed\">\n";

/* A name comes from foreign processes. */
static void write_name(FILE *out, const struct crit_results *results, const struct crit_who *who)
{
	char room[CRIT_CAUSE_WHO_BYTES], name[CRIT_CAUSE_WHO_BYTES];

	(void)snprintf(name, sizeof(name), "%s", crit_cause_who(results, who, room));
	crit_line_tame(name, strlen(name), false);
	for (const char *at = name; *at; at++) {
		if (strchr("<>&\"", *at))
			fprintf(out, "&#%d;", *at);
		else
			(void)fputc(*at, out);
	}
}

static void write_nodes(FILE *out, const struct crit_wait_graph *graph,
			const struct crit_results *results)
{
	for (size_t i = 0; i < graph->vertex_count; i++) {
		const struct crit_wait_vertex *vertex = &graph->vertices[i];

		fprintf(out, "  <node id=\"n%zu\"><data key=\"label\">", i);
		write_name(out, results, &vertex->who);
		fprintf(out, "</data><data key=\"cost\">%.9f</data>", 1e-9 * (double)vertex->cost);
		if (crit_wait_graph_is_knot(graph, i))
			fprintf(out, "<data key=\"knot\">%u</data>", vertex->knot);
		(void)fputs("</node>\n", out);
	}
}

void crit_waits_graphml_write(FILE *out, const struct crit_wait_graph *graph,
			      const struct crit_results *results)
{
	(void)fputs(head, out);
	write_nodes(out, graph, results);
	for (size_t i = 0; i < graph->table->pair_count; i++) {
		const struct crit_waiter_row *pair = &graph->table->pairs[i];

		fprintf(out,
			"  <edge source=\"n%u\" target=\"n%u\"><data key=\"waited\">%.9f</data>"
			"<data key=\"self\">%.9f</data><data key=\"impact\">%.9f</data>"
			"<data key=\"waits\">%llu</data></edge>\n",
			crit_wait_graph_vertex(graph, &pair->from),
			crit_wait_graph_vertex(graph, &pair->to), 1e-9 * (double)pair->raw_ns,
			1e-9 * (double)pair->self_ns, 1e-9 * (double)pair->impact,
			(unsigned long long)pair->count);
	}
	(void)fputs(" </graph>\n</graphml>\n", out);
}
