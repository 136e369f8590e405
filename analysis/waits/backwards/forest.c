// SPDX-License-Identifier: BSD-3-Clause
// Link-cut trees whose splay trees keep differences.
#include "analysis/waits/backwards/forest.h"

void crit_forest_fini(struct crit_forest *forest)
{
	free(forest->nodes);
	*forest = (struct crit_forest){ 0 };
}

int crit_forest_grow(struct crit_forest *forest, size_t count)
{
	int rc = crit_lines_grow(&forest->nodes, &forest->capacity, count, sizeof(*forest->nodes));

	if (rc)
		return rc;
	for (; forest->count < count; forest->count++)
		forest->nodes[forest->count] = (struct crit_forest_node){ .up = CRIT_NONE,
									  .nearer = CRIT_NONE,
									  .farther = CRIT_NONE };
	return 0;
}

/* The top of a splay tree: what is above, if anything, does not have it as a child. */
static bool is_top(const struct crit_forest_node *nodes, uint32_t at)
{
	const uint32_t up = nodes[at].up;

	return up == CRIT_NONE || (nodes[up].nearer != at && nodes[up].farther != at);
}

static void add(struct crit_forest_node *node, int32_t load, crit_integral moments)
{
	node->load += load;
	node->moments += moments;
}

/* Turns at and the node above it.  The child between them changes sides. */
static void rotate(struct crit_forest_node *nodes, uint32_t at)
{
	const uint32_t above = nodes[at].up, far = nodes[above].up;
	const bool is_nearer = nodes[above].nearer == at, is_over = is_top(nodes, above);
	const uint32_t moved = is_nearer ? nodes[at].farther : nodes[at].nearer;
	const int32_t load = nodes[at].load;
	const crit_integral moments = nodes[at].moments;

	if (!is_over && nodes[far].nearer == above)
		nodes[far].nearer = at;
	else if (!is_over)
		nodes[far].farther = at;
	*(is_nearer ? &nodes[above].nearer : &nodes[above].farther) = moved;
	*(is_nearer ? &nodes[at].farther : &nodes[at].nearer) = above;
	nodes[at].up = far;
	nodes[above].up = at;
	add(&nodes[at], nodes[above].load, nodes[above].moments);
	nodes[above].load = -load;
	nodes[above].moments = -moments;
	if (moved != CRIT_NONE) {
		nodes[moved].up = above;
		add(&nodes[moved], load, moments);
	}
}

/* Brings a node that is not the top of its splay tree there. */
static void raise_to_top(struct crit_forest_node *nodes, uint32_t at)
{
	do {
		const uint32_t above = nodes[at].up;

		if (!is_top(nodes, above)) {
			const bool is_straight = (nodes[above].nearer == at) ==
						 (nodes[nodes[above].up].nearer == above);

			rotate(nodes, is_straight ? above : at);
		}
		rotate(nodes, at);
	} while (!is_top(nodes, at));
}

static inline void splay(struct crit_forest_node *nodes, uint32_t at)
{
	if (!is_top(nodes, at))
		raise_to_top(nodes, at);
}

/* What is farther than the top of a splay tree becomes a splay tree of its own. */
static void part(struct crit_forest_node *nodes, uint32_t top)
{
	const uint32_t farther = nodes[top].farther;

	if (farther == CRIT_NONE)
		return;
	add(&nodes[farther], nodes[top].load, nodes[top].moments);
	nodes[top].farther = CRIT_NONE;
}

/* Makes the path from the root to a node one splay tree, with the node at its top. */
static void expose(struct crit_forest_node *nodes, uint32_t node)
{
	splay(nodes, node);
	part(nodes, node);
	while (nodes[node].up != CRIT_NONE) {
		const uint32_t on = nodes[node].up;

		splay(nodes, on);
		part(nodes, on);
		nodes[on].farther = node;
		add(&nodes[node], -nodes[on].load, -nodes[on].moments);
		rotate(nodes, node);
	}
}

uint32_t crit_forest_root(struct crit_forest *forest, uint32_t node)
{
	struct crit_forest_node *nodes = forest->nodes;

	expose(nodes, node);
	while (nodes[node].nearer != CRIT_NONE)
		node = nodes[node].nearer;
	splay(nodes, node);
	return node;
}

void crit_forest_weigh(struct crit_forest *forest, uint32_t node, int64_t change, uint64_t time_ns)
{
	expose(forest->nodes, node);
	add(&forest->nodes[node], (int32_t)change, (crit_integral)change * time_ns);
}

bool crit_forest_link(struct crit_forest *forest, uint32_t root, uint32_t node, uint64_t time_ns)
{
	struct crit_forest_node *nodes = forest->nodes;
	int32_t load;

	if (root == node)
		return false;
	expose(nodes, root);
	expose(nodes, node);
	if (nodes[root].up != CRIT_NONE)
		return false; /* it is on the way from the node to its root */
	load = nodes[root].load;
	add(&nodes[node], load, (crit_integral)load * time_ns);
	nodes[root].up = node;
	return true;
}

void crit_forest_cut(struct crit_forest *forest, uint32_t node, uint64_t time_ns)
{
	struct crit_forest_node *nodes = forest->nodes;
	uint32_t above;

	expose(nodes, node);
	above = nodes[node].nearer;
	nodes[node].nearer = CRIT_NONE;
	nodes[above].up = CRIT_NONE;
	/* it stands below the node no longer, and loses the node's load: its own stays */
	add(&nodes[above], 0, -(crit_integral)nodes[node].load * time_ns + nodes[node].moments);
}

int64_t crit_forest_load(struct crit_forest *forest, uint32_t node)
{
	splay(forest->nodes, node);
	return forest->nodes[node].load;
}

void crit_forest_splay(struct crit_forest *forest, uint32_t node)
{
	splay(forest->nodes, node);
}
