/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who waits for whom as a graph, and its knots: ranks, or threads, or these in a region each, that
 * the others wait for.
 *
 * An edge's weight is its impact for each thread of the waiter that waits at all, so a rank's
 * workers, which wait for the thread that waits in MPI, do not count for more ranks.  Who is nobody
 * of the run waits for nobody, and takes no part: what a thread sleeps for would be the knot of any
 * program.  Edges below 1 % of the window are dropped, then the lightest up to 20 % (knots.h).
 *
 * Source: Zhou et al., wPerf, OSDI'18, for impact as weight and both thresholds.
 */
#ifndef CRIT_WAIT_GRAPH_H
#define CRIT_WAIT_GRAPH_H

#include "report/causes/cause_rows.h"
#include "report/causes/cause_table.h"
#include "report/graph/knots.h"

struct crit_wait_vertex {
	struct crit_who who;
	crit_integral cost; /* of all its rows */
	uint32_t waiters; /* threads of it that wait for others */
	uint32_t knot; /* CRIT_NONE: in none */
};

struct crit_knot_row { /* for writers */
	const struct crit_wait_graph *graph;
	size_t knot;
};

struct crit_wait_graph {
	const struct crit_cause_table *table; /* borrowed */
	struct crit_wait_vertex *vertices; /* by who; nobody of the run is the last */
	size_t vertex_count;
	struct crit_knots knots; /* weights are impacts in ns */
	struct crit_knot_row *rows; /* of each knot */
	uint64_t least_ns, most_ns; /* edges dropped at first, and one by one */
	uint64_t heaviest_ns; /* edge */
};

/*
 * table: its pairs are the edges.  The graph stays where it is, for its rows point to it.
 * Ownership: fini by the caller, before the table is destroyed.
 * Errors: -ENOMEM.
 */
int crit_wait_graph_init(struct crit_wait_graph *graph, const struct crit_cause_table *table,
			 const struct crit_results *results);
void crit_wait_graph_fini(struct crit_wait_graph *graph);

/* Range: who is in a pair of the table. */
uint32_t crit_wait_graph_vertex(const struct crit_wait_graph *graph, const struct crit_who *who);

static inline bool crit_wait_vertex_is_nobody(const struct crit_wait_vertex *vertex)
{
	return vertex->who.rank == CRIT_NONE && vertex->who.thread == CRIT_NONE;
}

/* True: it is of a knot, and not only of a component. */
static inline bool crit_wait_graph_is_knot(const struct crit_wait_graph *graph, size_t vertex)
{
	const uint32_t knot = graph->vertices[vertex].knot;

	return knot != CRIT_NONE && !graph->knots.rows[knot].is_component;
}

#endif
