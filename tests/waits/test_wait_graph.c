// SPDX-License-Identifier: BSD-3-Clause
// Pairs of hand-filled costs as a graph of ranks and of threads, and how it is written.
#include <stdlib.h>
#include <string.h>

#include "core/base/call.h"
#include "report/causes/cause_words.h"
#include "report/graph/waits_dot.h"
#include "report/graph/waits_graphml.h"
#include "tests/lib/check.h"

#define WINDOW_NS 1000000u
#define THREADS 6u /* two of each rank, two of none */
#define NOBODY CRIT_NONE
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct crit_rank_row ranks[2] = { { .rank = 0, .world_size = 2 },
					 { .rank = 1, .world_size = 2 } };
static struct crit_thread_row threads[THREADS];
static const struct crit_results results = { .has_ranks = true,
					     .ranks = ranks,
					     .rank_count = 2,
					     .threads = threads,
					     .thread_count = THREADS };

static struct crit_wait_edge edge(uint32_t from, uint32_t to, uint64_t raw_ns, int64_t impact)
{
	return (struct crit_wait_edge){ .from = from,
					.to = to,
					.count = 3,
					.raw_ns = raw_ns,
					.part_ns = { [CRIT_PART_SELF] = raw_ns },
					.impact = impact };
}

/* Rank 1's primary waits for rank 0's, and its worker for the primary meanwhile. */
static struct crit_costs make_costs(void)
{
	static struct crit_cost buckets[THREADS + 1];
	static struct crit_wait_edge edges[6];

	edges[0] = edge(NOBODY, NOBODY, 0, 0);
	edges[1] = edge(3, 2, 100000, 100000);
	edges[2] = edge(2, 0, 100000, 200000);
	edges[3] = edge(0, 2, 12000, 12000);
	edges[4] = edge(0, NOBODY, 900000, 900000);
	edges[5] = edge(4, 0, 9999, 9999);
	for (uint32_t i = 0; i < THREADS; i++)
		buckets[i].cost[CRIT_PART_SELF] = i ? 1000 : 302000;
	return (struct crit_costs){ .buckets = buckets,
				    .bucket_count = THREADS,
				    .edges = edges,
				    .edge_count = COUNT(edges),
				    .waiting = 307000,
				    .window_ns = WINDOW_NS };
}

static struct crit_code_places *places; /* of the table */

static struct crit_cause_table *make_of(const struct crit_costs *costs,
					const struct crit_code_key *keys,
					const struct crit_results *of, enum crit_cause_by by)
{
	struct crit_cause_input input = { .costs = costs, .keys = keys, .results = of };
	struct crit_cause_table *table;

	places = crit_code_places_create(keys, costs->bucket_count, of, NULL);
	CHECK(places);
	input.places = places;
	table = crit_cause_table_create(&input, by);
	CHECK(table);
	return table;
}

static void drop(struct crit_cause_table *table)
{
	crit_cause_table_destroy(table);
	crit_code_places_destroy(places);
}

static struct crit_cause_table *make_table(const struct crit_costs *costs, enum crit_cause_by by)
{
	static struct crit_code_key keys[THREADS];

	for (uint32_t i = 0; i < THREADS; i++)
		keys[i].thread = i;
	return make_of(costs, keys, &results, by);
}

static void test_of_ranks(void)
{
	const struct crit_costs costs = make_costs();
	struct crit_cause_table *table = make_table(&costs, CRIT_CAUSE_BY_RANK);
	struct crit_wait_graph graph;
	uint32_t vertex;

	CHECK_INT_EQ(crit_wait_graph_init(&graph, table, &results), 0);
	/* the ranks, the threads of none, nobody */
	CHECK_UINT_EQ(graph.vertex_count, 5);
	CHECK_UINT_EQ(graph.least_ns, 10000);
	CHECK_UINT_EQ(graph.most_ns, 200000);
	CHECK_UINT_EQ(graph.heaviest_ns, 100000); /* two threads of rank 1 wait */
	CHECK_UINT_EQ(graph.knots.count, 1);
	CHECK(!graph.knots.rows[0].is_component);
	CHECK_UINT_EQ(graph.knots.rows[0].in_weight, 100000 + 9999);
	CHECK_UINT_EQ(graph.knots.rows[0].out_weight, 12000);
	vertex = crit_wait_graph_vertex(&graph,
					&(struct crit_who){ .rank = 0, .thread = CRIT_NONE });
	CHECK(crit_wait_graph_is_knot(&graph, vertex));
	CHECK_INT_EQ(graph.vertices[vertex].cost, 303000);
	vertex = crit_wait_graph_vertex(&graph,
					&(struct crit_who){ .rank = 1, .thread = CRIT_NONE });
	CHECK(!crit_wait_graph_is_knot(&graph, vertex));
	CHECK_UINT_EQ(graph.vertices[vertex].waiters, 2);
	vertex = crit_wait_graph_vertex(&graph, &(struct crit_who){ .rank = CRIT_NONE,
								    .thread = CRIT_NONE });
	CHECK(crit_wait_vertex_is_nobody(&graph.vertices[vertex]));
	CHECK(!crit_wait_graph_is_knot(&graph, vertex));
	crit_wait_graph_fini(&graph);
	drop(table);
}

/* Each thread counts for itself: 3 waits for 2, and that for 0. */
static void test_of_threads(void)
{
	const struct crit_costs costs = make_costs();
	struct crit_cause_table *table = make_table(&costs, CRIT_CAUSE_BY_THREAD);
	struct crit_wait_graph graph;

	CHECK_INT_EQ(crit_wait_graph_init(&graph, table, &results), 0);
	CHECK_UINT_EQ(graph.vertex_count, THREADS + 1);
	CHECK_UINT_EQ(graph.knots.count, 1);
	CHECK_UINT_EQ(graph.knots.rows[0].size, 1);
	CHECK_UINT_EQ(graph.knots.rows[0].in_weight, 200000 + 9999);
	CHECK(crit_wait_graph_is_knot(&graph, 0));
	crit_wait_graph_fini(&graph);
	drop(table);
}

/* Threads 0 and 1 are one pool, all others another one, which waits for it. */
static void test_of_names(void)
{
	const struct crit_costs costs = make_costs();
	struct crit_cause_table *table;
	struct crit_wait_graph graph;
	uint32_t vertex;

	threads[0].name[0] = threads[1].name[0] = '%';
	for (uint32_t i = 0; i < 2; i++) { /* 3 of 7 without a CPU */
		threads[i].cells.ns[CRIT_STATE_RUNNING][CRIT_CLASS_NONE] = 3 - i * 2;
		threads[i].cells.ns[CRIT_STATE_RUNNABLE][CRIT_CLASS_NONE] = 1 + i;
	}
	table = make_table(&costs, CRIT_CAUSE_BY_NAME);
	CHECK_NEAR(table->rows[0].without_cpu, 3.0 / 7, 1e-12);
	threads[0].name[0] = threads[1].name[0] = threads[2].name[0];
	CHECK_INT_EQ(crit_wait_graph_init(&graph, table, &results), 0);
	CHECK_UINT_EQ(graph.vertex_count, 3); /* and nobody */
	vertex = crit_wait_graph_vertex(
		&graph, &(struct crit_who){ .rank = CRIT_NONE, .thread = 0, .is_name = true });
	CHECK(crit_wait_graph_is_knot(&graph, vertex));
	CHECK_INT_EQ(graph.vertices[vertex].cost, 303000);
	CHECK_UINT_EQ(graph.vertices[vertex].waiters, 1);
	vertex = crit_wait_graph_vertex(
		&graph, &(struct crit_who){ .rank = CRIT_NONE, .thread = 2, .is_name = true });
	CHECK_INT_EQ(graph.vertices[vertex].cost, 4000);
	CHECK_UINT_EQ(graph.vertices[vertex].waiters, 3);
	crit_wait_graph_fini(&graph);
	drop(table);
}

/* As long as each other: no knot. */
static void test_equals(void)
{
	struct crit_costs costs = make_costs();
	struct crit_cause_table *table;
	struct crit_wait_graph graph;

	costs.edges[3].impact = 100000;
	costs.edges[5].impact = 0;
	table = make_table(&costs, CRIT_CAUSE_BY_RANK);
	CHECK_INT_EQ(crit_wait_graph_init(&graph, table, &results), 0);
	CHECK_UINT_EQ(graph.knots.count, 1);
	CHECK(graph.knots.rows[0].is_component);
	CHECK_UINT_EQ(graph.knots.rows[0].size, 2);
	CHECK(!crit_wait_graph_is_knot(&graph, 0));
	crit_wait_graph_fini(&graph);
	drop(table);
}

/* Rank 0's phases: 1 of another name, 2, and 3 of the same name as 2, but begun in 1. */
static struct crit_region_row regions[] = {
	{ .pid = 100, .number = 1, .parent = -1, .call = CRIT_CONSTRUCT_PHASE, .name = "assemble" },
	{ .pid = 100, .number = 2, .parent = -1, .call = CRIT_CONSTRUCT_PHASE, .name = "solve" },
	{ .pid = 100, .number = 3, .parent = 0, .call = CRIT_CONSTRUCT_PHASE, .name = "solve" },
};

/*
 * Thread 2 waits outside all for thread 0, in "solve" twice and once where only "assemble" is left
 * of 3; thread 3, which was in no bucket, for thread 2.
 */
static struct crit_cause_table *make_regions(struct crit_costs *ret_costs,
					     struct crit_results *ret_results)
{
	static const struct crit_code_key keys[] = {
		{ .thread = 0, .region = 2 },
		{ .thread = 0, .region = 3 },
		{ .thread = 0, .region = 3, .is_around = true },
		{ .thread = 2 }
	};
	static struct crit_cost buckets[COUNT(keys) + 1];
	static struct crit_wait_edge edges[5];

	edges[0] = edge(NOBODY, NOBODY, 0, 0);
	for (uint32_t i = 0; i < 3; i++) {
		edges[i + 1] = edge(3, i, 100000, 150000);
		buckets[i].cost[CRIT_PART_SELF] = 150000;
	}
	edges[4] = edge(COUNT(keys) + 3, 3, 150000, 150000);
	*ret_results = results;
	ret_results->regions.rows = regions;
	ret_results->regions.row_count = COUNT(regions);
	*ret_costs = (struct crit_costs){ .buckets = buckets,
					  .bucket_count = COUNT(keys),
					  .has_vertices = true,
					  .edges = edges,
					  .edge_count = COUNT(edges),
					  .waiting = 450000,
					  .window_ns = WINDOW_NS };
	return make_of(ret_costs, keys, ret_results, CRIT_CAUSE_BY_REGION);
}

static void test_of_regions(void)
{
	struct crit_results with_regions;
	struct crit_costs costs;
	struct crit_cause_table *table = make_regions(&costs, &with_regions);
	struct crit_wait_graph graph;
	char who[CRIT_CAUSE_WHO_BYTES];
	const struct crit_wait_vertex *solve;

	if (!CHECK(table))
		return;
	CHECK_UINT_EQ(table->pair_count, 3);
	CHECK_INT_EQ(table->pairs[0].impact, 300000);
	CHECK_STR_EQ(crit_cause_who(&with_regions, &table->pairs[0].from, who),
		     "rank 1 outside all regions");
	CHECK_STR_EQ(crit_cause_who(&with_regions, &table->pairs[0].to, who),
		     "rank 0 in phase solve");
	CHECK_INT_EQ(crit_wait_graph_init(&graph, table, &with_regions), 0);
	CHECK_UINT_EQ(graph.vertex_count, 4); /* of rank 1 outside, and wherever it is */
	CHECK_UINT_EQ(graph.knots.count, 2);
	solve = &graph.vertices[crit_wait_graph_vertex(&graph, &table->pairs[0].to)];
	CHECK_INT_EQ(solve->cost, 300000);
	CHECK(crit_wait_graph_is_knot(&graph, (size_t)(solve - graph.vertices)));
	CHECK_UINT_EQ(graph.knots.rows[solve->knot].in_weight, 300000);
	CHECK_UINT_EQ(graph.vertices[crit_wait_graph_vertex(&graph, &table->pairs[0].from)].waiters,
		      1);
	crit_wait_graph_fini(&graph);
	drop(table);
}

static void test_written(void)
{
	const struct crit_costs costs = make_costs();
	struct crit_cause_table *table = make_table(&costs, CRIT_CAUSE_BY_RANK);
	struct crit_wait_graph graph;
	char *text = NULL;
	size_t length;
	FILE *out;

	CHECK_INT_EQ(crit_wait_graph_init(&graph, table, &results), 0);
	out = open_memstream(&text, &length);
	crit_waits_dot_write(out, &graph, &results, false);
	(void)fclose(out);
	CHECK_MSG(strstr(text, "\"rank 0\" [xlabel=\"0.000 s, 98.7%\", peripheries=2]") != NULL,
		  "%s", text);
	CHECK_MSG(strstr(text, "\"rank 1\" [xlabel=\"0.000 s, 0.7%\"]") != NULL, "%s", text);
	free(text);
	out = open_memstream(&text, &length);
	crit_waits_graphml_write(out, &graph, &results);
	(void)fclose(out);
	CHECK_MSG(strstr(text,
			 "<node id=\"n0\"><data key=\"label\">rank 0</data><data key=\"cost\">"
			 "0.000303000</data><data key=\"knot\">0</data></node>") != NULL,
		  "%s", text);
	CHECK_MSG(strstr(text, "(&#38;&#60;x&#62;&#34;") != NULL, "%s", text);
	CHECK_MSG(strstr(text, "<edge source=\"n1\" target=\"n0\"><data key=\"waited\">0.000100000"
			       "</data><data key=\"self\">0.000100000</data><data key=\"impact\">"
			       "0.000200000</data><data key=\"waits\">3</data></edge>") != NULL,
		  "%s", text);
	free(text);
	crit_wait_graph_fini(&graph);
	drop(table);
}

int main(void)
{
	for (uint32_t i = 0; i < THREADS; i++)
		threads[i] = (struct crit_thread_row){ .pid = 100 + i / 2,
						       .tid = 100 + i,
						       .rank_row = i < 4 ? (int32_t)(i / 2) : -1,
						       .name = "&<x>\"" };
	test_of_ranks();
	test_of_threads();
	test_of_names();
	test_equals();
	test_of_regions();
	test_written();
	return check_done();
}
