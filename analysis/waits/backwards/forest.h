/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A forest of who waits for whom, and how many wait behind each node, integrated over time.
 *
 * Each node has a weight.  Its load is the sum of the weights in its tree below and at it.  Links,
 * cuts and weights change at times that never decrease; the integral of a load from time 0 on is
 * load * time less the sum of its changes, each times its time.  Both numbers are added to the path
 * to the root at once.
 *
 * Source: Sleator and Tarjan, A data structure for dynamic trees, 1983; paths as splay trees
 * (1985).  A path's nodes are ordered from the root down.  A node keeps the difference of its
 * numbers to those of the node above it in the splay tree, so what is added to the top holds for
 * all below, and a rotation changes three nodes.
 *
 * Cost: each function amortised O(log nodes), but the load of what was just touched O(1).
 */
#ifndef CRIT_FOREST_H
#define CRIT_FOREST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/array.h"

__extension__ typedef __int128 crit_integral; /* nanoseconds of any number of waits */

struct crit_forest_node {
	crit_integral moments; /* sum of the changes of load, each times its time; relative */
	int32_t load; /* relative as well: weights are of nodes, which are fewer than 2^31 */
	uint32_t up; /* splay tree, or the node that the path hangs on; CRIT_NONE */
	uint32_t nearer, farther; /* children in the splay tree: nearer to the root of the forest */
} __attribute__((aligned(32))); /* two in a line */

struct crit_forest { /* zeroed: empty */
	struct crit_forest_node *nodes;
	size_t count, capacity;
};

void crit_forest_fini(struct crit_forest *forest);

/* Makes nodes 0 to count - 1 exist, new ones alone and without weight.  Errors: -ENOMEM. */
int crit_forest_grow(struct crit_forest *forest, size_t count);

uint32_t crit_forest_root(struct crit_forest *forest, uint32_t node);

/* Changes the weight of a node.  Range: loads of less than 2^31, either way. */
void crit_forest_weigh(struct crit_forest *forest, uint32_t node, int64_t change, uint64_t time_ns);

/* Hangs a root on a node.  False, and nothing is done, where the node is in the root's tree. */
bool crit_forest_link(struct crit_forest *forest, uint32_t root, uint32_t node, uint64_t time_ns);

/* Makes a node that hangs on another one a root. */
void crit_forest_cut(struct crit_forest *forest, uint32_t node, uint64_t time_ns);

int64_t crit_forest_load(struct crit_forest *forest, uint32_t node);

/* Brings a node to where its numbers are relative to none. */
void crit_forest_splay(struct crit_forest *forest, uint32_t node);

/* The integral of the load from time 0 to time_ns, at or after the last change. */
static inline crit_integral crit_forest_integral(struct crit_forest *forest, uint32_t node,
						 uint64_t time_ns)
{
	const struct crit_forest_node *of = &forest->nodes[node];

	if (of->up != CRIT_NONE)
		crit_forest_splay(forest, node);
	return (crit_integral)of->load * time_ns - of->moments;
}

#endif
