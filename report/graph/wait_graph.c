// SPDX-License-Identifier: BSD-3-Clause
// From the pairs of a table to vertices, edges and knots.
#include "report/graph/wait_graph.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/table/group_by.h"
#include "report/causes/cause_who.h"

#define LEAST_PERCENT 1 /* of the window */
#define MOST_PERCENT 20

static int compare_vertices(const void *a, const void *b)
{
	const struct crit_wait_vertex *left = a, *right = b;

	return crit_cause_compare_who(&left->who, &right->who);
}

static uint64_t hash_vertex(const void *item)
{
	return crit_cause_hash_who(&((const struct crit_wait_vertex *)item)->who);
}

static void begin_vertex(void *to, const void *from)
{
	*(struct crit_wait_vertex *)to =
		(struct crit_wait_vertex){ .who = ((const struct crit_wait_vertex *)from)->who };
}

static void add_vertex(void *to, const void *from)
{
	((struct crit_wait_vertex *)to)->cost += ((const struct crit_wait_vertex *)from)->cost;
}

static const struct crit_grouping by_who = { sizeof(struct crit_wait_vertex),
					     sizeof(struct crit_wait_vertex),
					     compare_vertices,
					     begin_vertex,
					     add_vertex,
					     hash_vertex };

uint32_t crit_wait_graph_vertex(const struct crit_wait_graph *graph, const struct crit_who *who)
{
	const struct crit_wait_vertex key = { .who = *who };
	const struct crit_wait_vertex *found = bsearch(&key, graph->vertices, graph->vertex_count,
						       sizeof(*graph->vertices), compare_vertices);

	return found ? (uint32_t)(found - graph->vertices) : CRIT_NONE;
}

/* True: it cost something, or was on the critical path. */
static bool cost_of(const struct crit_cost *bucket, crit_integral *ret_cost)
{
	uint64_t path_ns = 0;

	*ret_cost = 0;
	for (int part = 0; part < CRIT_PART_COUNT; part++) {
		*ret_cost += bucket->cost[part];
		path_ns += bucket->path_ns[part];
	}
	return *ret_cost || path_ns;
}

static int find_vertices(struct crit_wait_graph *graph, const struct crit_results *results)
{
	const struct crit_cause_table *table = graph->table;
	const struct crit_costs *costs = table->costs;
	struct crit_groups groups;
	int rc = crit_groups_begin(&groups, &by_who,
				   costs->bucket_count + 2 * table->pair_count + 1);

	for (size_t i = 0; i <= costs->bucket_count && !rc; i++) {
		struct crit_wait_vertex vertex = { 0 };

		if (!cost_of(&costs->buckets[i], &vertex.cost))
			continue;
		vertex.who = crit_cause_bucket_who(table, results, i);
		rc = crit_groups_put(&groups, &vertex);
	}
	for (size_t i = 0; i < 2 * table->pair_count && !rc; i++) {
		const struct crit_waiter_row *pair = &table->pairs[i / 2];
		const struct crit_wait_vertex vertex = { .who = i % 2 ? pair->to : pair->from };

		rc = crit_groups_put(&groups, &vertex);
	}
	graph->vertices = crit_groups_end(&groups, &graph->vertex_count);
	if (!rc)
		qsort(graph->vertices, graph->vertex_count, sizeof(*graph->vertices),
		      compare_vertices);
	return rc;
}

/* Each thread that waits, by region in each, counts once for the vertex it belongs to. */
static int count_waiters(struct crit_wait_graph *graph, const struct crit_results *results)
{
	const struct crit_costs *costs = graph->table->costs;
	const size_t node_count =
		results->thread_count + (costs->has_vertices ? costs->bucket_count : 0);
	bool *has_waited = calloc(node_count + 1, sizeof(*has_waited));

	if (!has_waited)
		return -ENOMEM;
	for (size_t i = 0; i < costs->edge_count; i++) {
		const uint32_t node = costs->edges[i].from;
		struct crit_who who;

		if (node >= node_count || has_waited[node])
			continue;
		has_waited[node] = true;
		who = crit_cause_node_who(graph->table, results, node);
		graph->vertices[crit_wait_graph_vertex(graph, &who)].waiters++;
	}
	free(has_waited);
	return 0;
}

static bool is_edge(const struct crit_wait_graph *graph, const struct crit_graph_edge *edge)
{
	return edge->from != edge->to &&
	       !crit_wait_vertex_is_nobody(&graph->vertices[edge->from]) &&
	       !crit_wait_vertex_is_nobody(&graph->vertices[edge->to]);
}

/* A lock that waits for its holder is one, too. */
static uint32_t waiters_of(const struct crit_wait_vertex *vertex)
{
	return vertex->waiters ? vertex->waiters : 1;
}

static int find_knots(struct crit_wait_graph *graph)
{
	const struct crit_cause_table *table = graph->table;
	struct crit_knots_options options = { .vertex_count = graph->vertex_count,
					      .least_weight = graph->least_ns,
					      .most_weight = graph->most_ns };
	int rc;

	options.edges = calloc(table->pair_count + 1, sizeof(*options.edges));
	if (!options.edges)
		return -ENOMEM;
	for (size_t i = 0; i < table->pair_count; i++) {
		const struct crit_waiter_row *pair = &table->pairs[i];
		struct crit_graph_edge edge = { crit_wait_graph_vertex(graph, &pair->from),
						crit_wait_graph_vertex(graph, &pair->to), 0 };

		if (!is_edge(graph, &edge))
			continue;
		edge.weight = (uint64_t)(pair->impact / waiters_of(&graph->vertices[edge.from]));
		if (edge.weight > graph->heaviest_ns)
			graph->heaviest_ns = edge.weight;
		options.edges[options.edge_count++] = edge;
	}
	rc = crit_knots_find(&options, &graph->knots);
	free(options.edges);
	for (size_t v = 0; v < graph->vertex_count && !rc; v++)
		graph->vertices[v].knot = graph->knots.of_vertex[v];
	return rc;
}

static int make_rows(struct crit_wait_graph *graph)
{
	graph->rows = calloc(graph->knots.count + 1, sizeof(*graph->rows));
	for (size_t i = 0; graph->rows && i < graph->knots.count; i++)
		graph->rows[i] = (struct crit_knot_row){ graph, i };
	return graph->rows ? 0 : -ENOMEM;
}

int crit_wait_graph_init(struct crit_wait_graph *graph, const struct crit_cause_table *table,
			 const struct crit_results *results)
{
	const uint64_t window_ns = table->costs->window_ns;
	int rc;

	*graph = (struct crit_wait_graph){ .table = table,
					   .least_ns = window_ns / 100 * LEAST_PERCENT,
					   .most_ns = window_ns / 100 * MOST_PERCENT };
	rc = find_vertices(graph, results);
	if (!rc)
		rc = count_waiters(graph, results);
	if (!rc)
		rc = find_knots(graph);
	if (!rc)
		rc = make_rows(graph);
	if (rc)
		crit_wait_graph_fini(graph);
	return rc;
}

void crit_wait_graph_fini(struct crit_wait_graph *graph)
{
	free(graph->vertices);
	free(graph->rows);
	crit_knots_fini(&graph->knots);
	*graph = (struct crit_wait_graph){ 0 };
}
