// SPDX-License-Identifier: BSD-3-Clause
// Nodes have what they cost, edges are as wide as their impact.
#include "report/graph/waits_dot.h"

#include <string.h>

#include "core/base/line.h"
#include "report/causes/cause_rows.h"
#include "report/causes/cause_words.h"

#define LEAST_IMPACT 0.01 /* of the largest */
#define WIDEST 8.0

/* A name in quotes: it comes from foreign processes. */
static void write_name(FILE *out, const struct crit_results *results, const struct crit_who *who)
{
	char room[CRIT_CAUSE_WHO_BYTES], name[CRIT_CAUSE_WHO_BYTES];

	(void)snprintf(name, sizeof(name), "%s", crit_cause_who(results, who, room));
	crit_line_tame(name, strlen(name), false);
	(void)fputc('"', out);
	for (const char *at = name; *at; at++) {
		if (*at == '"' || *at == '\\')
			(void)fputc('\\', out);
		(void)fputc(*at, out);
	}
	(void)fputc('"', out);
}

static void write_nodes(FILE *out, const struct crit_wait_graph *graph,
			const struct crit_results *results)
{
	const double waiting = (double)graph->table->costs->waiting;

	for (size_t i = 0; i < graph->vertex_count; i++) {
		const struct crit_wait_vertex *vertex = &graph->vertices[i];

		(void)fputc('\t', out);
		write_name(out, results, &vertex->who);
		fprintf(out, " [xlabel=\"%.3f s, %.1f%%\"%s%s]\n", 1e-9 * (double)vertex->cost,
			waiting > 0 ? 100 * (double)vertex->cost / waiting : 0,
			crit_wait_vertex_is_nobody(vertex) ? ", style=dashed" : "",
			crit_wait_graph_is_knot(graph, i) ? ", peripheries=2" : "");
	}
}

void crit_waits_dot_write(FILE *out, const struct crit_wait_graph *graph,
			  const struct crit_results *results, bool has_all)
{
	const struct crit_cause_table *table = graph->table;
	const double most = table->pair_count ? (double)table->pairs[0].impact : 0;

	(void)fputs(
		"digraph waits {\n\tlabel=\"who waits for whom; width: impact; beside a node: what "
		"it cost; two frames: a knot\"\n\tnode [shape=box]\n",
		out);
	write_nodes(out, graph, results);
	for (size_t i = 0; i < table->pair_count; i++) {
		const struct crit_waiter_row *pair = &table->pairs[i];
		const double part = most > 0 ? (double)pair->impact / most : 0;

		if (!has_all && part < LEAST_IMPACT)
			break;
		(void)fputc('\t', out);
		write_name(out, results, &pair->from);
		(void)fputs(" -> ", out);
		write_name(out, results, &pair->to);
		fprintf(out,
			" [label=\"%.3f s\", tooltip=\"self %.3f s, impact %.3f s, %llu waits\", "
			"penwidth=%.1f]\n",
			1e-9 * (double)pair->raw_ns, 1e-9 * (double)pair->self_ns,
			1e-9 * (double)pair->impact, (unsigned long long)pair->count,
			1 + (WIDEST - 1) * part);
	}
	(void)fputs("}\n", out);
}
