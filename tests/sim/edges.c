// SPDX-License-Identifier: BSD-3-Clause
// A growing list of edges, and their order.
#include "tests/sim/edges.h"

#include <stdlib.h>

#include "core/base/array.h"
#include "tests/maker/maker.h"

void sim_edges_add(struct sim_edges *edges, const struct sim_edge *edge)
{
	if (crit_array_grow(&edges->rows, &edges->capacity, edges->count + 1, sizeof(*edges->rows)))
		crit_maker_fail("get memory");
	edges->rows[edges->count++] = *edge;
}

int sim_edges_compare(const void *left, const void *right)
{
	const struct sim_edge *a = left, *b = right;
	int rc = crit_by_number(a->kind, b->kind);

	rc = rc ? rc : crit_by_number(a->end_ns, b->end_ns);
	rc = rc ? rc : crit_by_number(a->waiter, b->waiter);
	rc = rc ? rc : crit_by_number(a->cause, b->cause);
	rc = rc ? rc : crit_by_number(a->object, b->object);
	rc = rc ? rc : crit_by_number(a->number, b->number);
	rc = rc ? rc : crit_by_number(a->bytes, b->bytes);
	rc = rc ? rc : crit_by_number(a->cause_ns, b->cause_ns);
	rc = rc ? rc : crit_by_number(a->begin_ns, b->begin_ns);
	return rc ? rc : crit_by_number(a->call, b->call);
}

void sim_edges_sort(struct sim_edges *edges)
{
	if (edges->count)
		qsort(edges->rows, edges->count, sizeof(*edges->rows), sim_edges_compare);
}

void sim_edges_fini(struct sim_edges *edges)
{
	free(edges->rows);
	*edges = (struct sim_edges){ 0 };
}
