// SPDX-License-Identifier: BSD-3-Clause
// Splits sets of vertices, which begins with that of all, until each is a knot or none.
#include "report/graph/knots.h"

#include <errno.h>

#include "core/base/array.h"

#define LEAST_RATIO 2 /* of what the others wait for a knot to what it waits for them */
#define EDGES_LOOKED_AT ((uint64_t)1 << 28)

struct vertex_set {
	struct crit_knot knot;
	uint32_t lowest; /* vertex */
	bool is_over; /* others took its place */
};

struct set_part { /* of a set that splits */
	struct vertex_set set;
	uint32_t number; /* of the set it becomes; CRIT_NONE: none */
	bool has_way_out; /* to the rest of the set, by an edge that is left */
	bool has_way_in; /* by an edge that was left at first */
};

struct splitting {
	const struct crit_knots_options *options;
	struct vertex_set *sets;
	size_t set_count, set_capacity;
	uint32_t *set_of; /* of each vertex, CRIT_NONE: in none that is looked at */
	uint32_t *local, *vertices; /* of the set that is split: numbers in it, and back */
	size_t vertex_count;
	struct crit_graph_edge *edges; /* inside of it, by local numbers, ascending */
	size_t edge_count;
	struct crit_components components;
	struct set_part *parts; /* of these components */
	size_t part_capacity;
	uint64_t looked_at;
};

static int compare_edges(const void *a, const void *b)
{
	const struct crit_graph_edge *left = a, *right = b;
	int order = crit_by_number(left->weight, right->weight);

	if (!order)
		order = crit_by_number(left->from, right->from);
	return order ? order : crit_by_number(left->to, right->to);
}

/* Vertices and edges of a set, without those that were dropped at first. */
static void enter_set(struct splitting *splitting, uint32_t set)
{
	const struct crit_knots_options *options = splitting->options;

	splitting->vertex_count = splitting->edge_count = 0;
	for (size_t v = 0; v < options->vertex_count; v++) {
		if (splitting->set_of[v] != set)
			continue;
		splitting->local[v] = (uint32_t)splitting->vertex_count;
		splitting->vertices[splitting->vertex_count++] = (uint32_t)v;
	}
	for (size_t i = 0; i < options->edge_count; i++) {
		const struct crit_graph_edge *edge = &options->edges[i];

		if (edge->weight >= options->least_weight && splitting->set_of[edge->from] == set &&
		    splitting->set_of[edge->to] == set)
			splitting->edges[splitting->edge_count++] =
				(struct crit_graph_edge){ splitting->local[edge->from],
							  splitting->local[edge->to],
							  edge->weight };
	}
	splitting->looked_at += options->edge_count;
}

/* Without the first of its edges. */
static int find_components(struct splitting *splitting, size_t dropped)
{
	splitting->looked_at += splitting->edge_count - dropped;
	return crit_components_find(&splitting->components, splitting->vertex_count,
				    splitting->edges + dropped, splitting->edge_count - dropped);
}

/*
 * The fewest edges to drop for the set to split, and its components then.  Yields 1, and 0 where it
 * does not split.  Errors: -ENOMEM.
 */
static int split(struct splitting *splitting, size_t *ret_dropped)
{
	size_t whole = 0, most = 0; /* dropped: it is whole; the most that may be */
	int rc = find_components(splitting, 0);

	*ret_dropped = 0;
	if (rc || splitting->components.count > 1)
		return rc ? rc : 1;
	while (most < splitting->edge_count &&
	       splitting->edges[most].weight <= splitting->options->most_weight)
		most++;
	rc = find_components(splitting, most);
	if (rc || splitting->components.count == 1)
		return rc;
	while (most - whole > 1) {
		const size_t between = whole + (most - whole) / 2;

		rc = find_components(splitting, between);
		if (rc)
			return rc;
		if (splitting->components.count == 1)
			whole = between;
		else
			most = between;
	}
	*ret_dropped = most;
	rc = find_components(splitting, most);
	return rc ? rc : 1;
}

/* What a set's vertices wait for others, and these for them. */
static void weigh_parts(struct splitting *splitting, uint32_t set)
{
	const struct crit_knots_options *options = splitting->options;
	const uint32_t *part_of = splitting->components.of_vertex;

	for (size_t i = 0; i < options->edge_count; i++) {
		const struct crit_graph_edge *edge = &options->edges[i];
		const uint32_t from = splitting->set_of[edge->from] == set
					      ? part_of[splitting->local[edge->from]]
					      : CRIT_NONE;
		const uint32_t to = splitting->set_of[edge->to] == set
					    ? part_of[splitting->local[edge->to]]
					    : CRIT_NONE;

		if (from == to)
			continue;
		if (from != CRIT_NONE)
			splitting->parts[from].set.knot.out_weight += edge->weight;
		if (to == CRIT_NONE)
			continue;
		splitting->parts[to].set.knot.in_weight += edge->weight;
		splitting->parts[to].has_way_in |= edge->weight >= options->least_weight;
	}
}

static int make_parts(struct splitting *splitting, uint32_t set, size_t dropped)
{
	const struct crit_components *components = &splitting->components;

	if (crit_array_grow(&splitting->parts, &splitting->part_capacity, components->count,
			    sizeof(*splitting->parts)))
		return -ENOMEM;
	memset(splitting->parts, 0, components->count * sizeof(*splitting->parts));
	for (size_t i = splitting->vertex_count; i-- > 0;) {
		struct set_part *part = &splitting->parts[components->of_vertex[i]];

		part->set.knot.size++;
		part->set.lowest = splitting->vertices[i];
	}
	for (size_t i = dropped; i < splitting->edge_count; i++) {
		const uint32_t from = components->of_vertex[splitting->edges[i].from];

		splitting->parts[from].has_way_out |= from !=
						      components->of_vertex[splitting->edges[i].to];
	}
	weigh_parts(splitting, set);
	return 0;
}

/* True: the part is a knot, or nothing that was left at first ties it to others. */
static bool is_set(struct set_part *part)
{
	struct crit_knot *knot = &part->set.knot;

	knot->is_component = !part->has_way_in;
	if (part->has_way_out)
		return false;
	return part->has_way_in ? knot->in_weight / LEAST_RATIO >= knot->out_weight
				: knot->size > 1;
}

/* The parts of a set that are sets take its place, if there are any.  Errors: -ENOMEM. */
static int replace_set(struct splitting *splitting, uint32_t set)
{
	const struct crit_components *components = &splitting->components;
	const size_t first = splitting->set_count;

	for (size_t i = 0; i < components->count; i++) {
		struct set_part *part = &splitting->parts[i];

		part->number = CRIT_NONE;
		if (!is_set(part))
			continue;
		if (crit_array_grow(&splitting->sets, &splitting->set_capacity,
				    splitting->set_count + 1, sizeof(*splitting->sets)))
			return -ENOMEM;
		part->number = (uint32_t)splitting->set_count;
		splitting->sets[splitting->set_count++] = part->set;
	}
	if (splitting->set_count == first)
		return 0;
	splitting->sets[set].is_over = true;
	for (size_t i = 0; i < splitting->vertex_count; i++)
		splitting->set_of[splitting->vertices[i]] =
			splitting->parts[components->of_vertex[i]].number;
	return 0;
}

static int look_at(struct splitting *splitting, uint32_t set)
{
	size_t dropped;
	int rc;

	if (splitting->sets[set].knot.size < 2 || splitting->looked_at > EDGES_LOOKED_AT)
		return 0;
	enter_set(splitting, set);
	rc = split(splitting, &dropped);
	if (rc <= 0)
		return rc;
	rc = make_parts(splitting, set, dropped);
	if (rc)
		return rc;
	if (!dropped) /* that of all: no set otherwise */
		splitting->sets[set].is_over = true;
	return replace_set(splitting, set);
}

static int begin(struct splitting *splitting)
{
	const struct crit_knots_options *options = splitting->options;

	splitting->set_of = calloc(options->vertex_count + 1, sizeof(*splitting->set_of));
	splitting->local = calloc(options->vertex_count + 1, sizeof(*splitting->local));
	splitting->vertices = calloc(options->vertex_count + 1, sizeof(*splitting->vertices));
	splitting->edges = calloc(options->edge_count + 1, sizeof(*splitting->edges));
	if (!splitting->set_of || !splitting->local || !splitting->vertices || !splitting->edges ||
	    crit_array_grow(&splitting->sets, &splitting->set_capacity, 1,
			    sizeof(*splitting->sets)))
		return -ENOMEM;
	qsort(options->edges, options->edge_count, sizeof(*options->edges), compare_edges);
	splitting->sets[0] =
		(struct vertex_set){ { .size = options->vertex_count, .is_component = true },
				     .is_over = options->vertex_count < 2 };
	splitting->set_count = 1;
	return 0;
}

/* The sets that are left, in the order of their lowest vertices. */
static int tell(struct splitting *splitting, struct crit_knots *ret_knots)
{
	const size_t vertex_count = splitting->options->vertex_count;
	struct crit_knots knots = { .rows = calloc(splitting->set_count + 1, sizeof(*knots.rows)),
				    .of_vertex = splitting->set_of };
	uint32_t *row_of = calloc(splitting->set_count + 1, sizeof(*row_of));

	if (!knots.rows || !row_of) {
		free(knots.rows);
		free(row_of);
		return -ENOMEM;
	}
	for (size_t v = 0; v < vertex_count; v++) {
		const uint32_t set = splitting->set_of[v];

		if (set == CRIT_NONE)
			continue;
		if (splitting->sets[set].lowest == v && !splitting->sets[set].is_over) {
			row_of[set] = (uint32_t)knots.count;
			knots.rows[knots.count++] = splitting->sets[set].knot;
		}
		knots.of_vertex[v] = splitting->sets[set].is_over ? CRIT_NONE : row_of[set];
	}
	free(row_of);
	splitting->set_of = NULL;
	*ret_knots = knots;
	return 0;
}

int crit_knots_find(const struct crit_knots_options *options, struct crit_knots *ret_knots)
{
	struct splitting splitting = { .options = options };
	int rc = begin(&splitting);

	for (uint32_t set = 0; set < splitting.set_count && !rc; set++)
		rc = look_at(&splitting, set);
	if (!rc)
		rc = tell(&splitting, ret_knots);
	crit_components_fini(&splitting.components);
	free(splitting.sets);
	free(splitting.set_of);
	free(splitting.local);
	free(splitting.vertices);
	free(splitting.edges);
	free(splitting.parts);
	return rc;
}

void crit_knots_fini(struct crit_knots *knots)
{
	free(knots->rows);
	free(knots->of_vertex);
	*knots = (struct crit_knots){ 0 };
}
