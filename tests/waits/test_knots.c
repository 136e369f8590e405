// SPDX-License-Identifier: BSD-3-Clause
// Small graphs whose knots are known by hand.
#include <string.h>

#include "core/base/array.h"
#include "report/graph/knots.h"
#include "tests/lib/check.h"

#define LEAST 10
#define MOST 200
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* "0,2 in 50 out 3; component 1,4 in 0 out 0": each, in order. */
static void check_knots(const char *name, size_t vertex_count, const struct crit_graph_edge *edges,
			size_t edge_count, const char *expected)
{
	struct crit_graph_edge sorted[64];
	const struct crit_knots_options options = { .vertex_count = vertex_count,
						    .edges = sorted,
						    .edge_count = edge_count,
						    .least_weight = LEAST,
						    .most_weight = MOST };
	struct crit_knots knots;
	char text[512] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	CHECK_CASE("%s", name);
	memcpy(sorted, edges, edge_count * sizeof(*edges));
	CHECK_INT_EQ(crit_knots_find(&options, &knots), 0);
	for (size_t i = 0; i < knots.count; i++) {
		size_t size = 0;

		fprintf(out, "%s%s", i ? "; " : "", knots.rows[i].is_component ? "component " : "");
		for (size_t v = 0; v < vertex_count; v++) {
			if (knots.of_vertex[v] == i)
				fprintf(out, "%s%zu", size++ ? "," : "", v);
		}
		CHECK_UINT_EQ(knots.rows[i].size, size);
		fprintf(out, " in %llu out %llu", (unsigned long long)knots.rows[i].in_weight,
			(unsigned long long)knots.rows[i].out_weight);
	}
	(void)fclose(out);
	CHECK_STR_EQ(text, expected);
	crit_knots_fini(&knots);
	CHECK_CASE("%s", "");
}

#define GRAPH(name, vertices, expected, ...)                                                       \
	do {                                                                                       \
		static const struct crit_graph_edge edges[] = { __VA_ARGS__ };                     \
		check_knots(name, vertices, edges, COUNT(edges), expected);                        \
	} while (0)

static void test_without_trimming(void)
{
	GRAPH("a chain", 4, "3 in 60 out 0", { 0, 1, 20 }, { 1, 2, 40 }, { 2, 3, 60 });
	GRAPH("two wait for each other, and one for them", 3, "0,1 in 20 out 0", { 0, 1, 300 },
	      { 1, 0, 300 }, { 2, 0, 20 });
	GRAPH("edges below the least are none", 3, "", { 0, 1, 9 }, { 1, 2, 9 }, { 2, 0, 9 });
	GRAPH("they count against a knot", 4, "", { 0, 1, 17 }, { 1, 0, 9 }, { 1, 2, 0 });
	GRAPH("not against one that is waited for more", 3, "1 in 18 out 9", { 0, 1, 18 },
	      { 1, 0, 9 });
	GRAPH("two chains", 4, "1 in 10 out 0; 3 in 10 out 0", { 0, 1, 10 }, { 2, 3, 10 });
}

static void test_trimming(void)
{
	GRAPH("one is late, the others wait little for each other", 3, "1 in 220 out 40",
	      { 0, 1, 120 }, { 2, 1, 100 }, { 1, 0, 20 }, { 1, 2, 20 }, { 0, 2, 30 }, { 2, 0, 30 });
	GRAPH("equals are no knot", 3, "component 0,1,2 in 0 out 0", { 0, 1, 50 }, { 1, 0, 50 },
	      { 1, 2, 50 }, { 2, 1, 50 }, { 0, 2, 50 }, { 2, 0, 50 });
	GRAPH("what is heavy is not dropped", 2, "component 0,1 in 0 out 0", { 0, 1, 201 },
	      { 1, 0, 900 });
	GRAPH("up to the most it is", 2, "0 in 900 out 200", { 0, 1, 200 }, { 1, 0, 900 });
	GRAPH("a ring of four", 4, "component 0,1,2,3 in 0 out 0", { 0, 1, 30 }, { 1, 2, 30 },
	      { 2, 3, 30 }, { 3, 0, 30 });
	GRAPH("two groups of equals", 4, "component 0,1 in 9 out 0; component 2,3 in 0 out 9",
	      { 0, 1, 30 }, { 1, 0, 30 }, { 2, 3, 30 }, { 3, 2, 30 }, { 2, 0, 9 });
}

/* 3 waits for all others and is let go first; of these 0 is what 1 and 2 wait for. */
static void test_inside(void)
{
	GRAPH("a knot in what is left", 4, "0 in 270 out 75", { 3, 0, 90 }, { 3, 1, 90 },
	      { 3, 2, 90 }, { 0, 3, 15 }, { 1, 0, 90 }, { 2, 0, 90 }, { 0, 1, 30 }, { 0, 2, 30 },
	      { 1, 2, 40 }, { 2, 1, 40 });
	GRAPH("none in it: two that wait for each other", 3, "0,1 in 80 out 12", { 2, 0, 40 },
	      { 2, 1, 40 }, { 0, 1, 60 }, { 1, 0, 60 }, { 0, 2, 12 });
}

int main(void)
{
	test_without_trimming();
	test_trimming();
	test_inside();
	return check_done();
}
