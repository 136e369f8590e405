// SPDX-License-Identifier: BSD-3-Clause
// Rows of costs and of edges, and the laws that they keep.
#include "analysis/waits/backwards/costs.h"

#include <errno.h>
#include <stdlib.h>

int crit_costs_init(struct crit_costs *costs, size_t bucket_count, size_t thread_count,
		    size_t edges_max)
{
	*costs = (struct crit_costs){ .bucket_count = bucket_count,
				      .thread_count = thread_count,
				      .edges_max = edges_max };
	costs->buckets = crit_lines_alloc(bucket_count + 1, sizeof(*costs->buckets));
	costs->threads = crit_lines_alloc(thread_count + 1, sizeof(*costs->threads));
	if (!costs->buckets || !costs->threads || crit_late_acts_init(&costs->acts) ||
	    crit_array_grow(&costs->edges, &costs->edge_capacity, 1, sizeof(*costs->edges))) {
		crit_costs_fini(costs);
		return -ENOMEM;
	}
	costs->edges[0].from = costs->edges[0].to = CRIT_NONE;
	costs->edge_count = 1;
	return 0;
}

void crit_costs_fini(struct crit_costs *costs)
{
	free(costs->buckets);
	free(costs->threads);
	free(costs->edges);
	crit_index_fini(&costs->edge_rows);
	crit_late_acts_fini(&costs->acts);
	*costs = (struct crit_costs){ 0 };
}

struct crit_wait_edge *crit_costs_edge(struct crit_costs *costs, uint32_t from, uint32_t to)
{
	const uint64_t hash = crit_hash_mix(0, (uint64_t)from << 32 | to);
	struct crit_wait_edge *edge;
	struct crit_probe probe;
	uint32_t row = crit_index_first(&costs->edge_rows, hash, &probe);

	while (row != CRIT_NONE && (costs->edges[row].from != from || costs->edges[row].to != to))
		row = crit_index_next(&costs->edge_rows, &probe);
	if (row != CRIT_NONE)
		return &costs->edges[row];
	if (costs->edge_count > costs->edges_max ||
	    crit_array_grow(&costs->edges, &costs->edge_capacity, costs->edge_count + 1,
			    sizeof(*costs->edges)) ||
	    crit_index_put(&costs->edge_rows, hash, (uint32_t)costs->edge_count))
		return &costs->edges[0];
	edge = &costs->edges[costs->edge_count++];
	edge->from = from;
	edge->to = to;
	return edge;
}

static int check_edges(const struct crit_costs *costs, struct crit_err *err)
{
	for (size_t i = 0; i < costs->edge_count; i++) {
		const struct crit_wait_edge *edge = &costs->edges[i];
		uint64_t parts_ns = 0;

		for (int part = 0; part < CRIT_PART_COUNT; part++)
			parts_ns += edge->part_ns[part];
		if (parts_ns != edge->raw_ns)
			return crit_err_set(err, -EPROTO,
					    "the parts of edge %x to %x are %llu ns of %llu",
					    edge->from, edge->to, (unsigned long long)parts_ns,
					    (unsigned long long)edge->raw_ns);
	}
	return 0;
}

static int check_threads(const struct crit_costs *costs, struct crit_err *err)
{
	crit_integral waited = 0;

	for (size_t i = 0; i <= costs->thread_count; i++) {
		for (int part = 0; part < CRIT_PART_COUNT; part++)
			waited += costs->threads[i].part_ns[part];
	}
	return waited == costs->waiting
		       ? 0
		       : crit_err_set(err, -EPROTO, "threads waited %.0f ns, waits are %.0f ns",
				      (double)waited, (double)costs->waiting);
}

int crit_costs_check(const struct crit_costs *costs, struct crit_err *err)
{
	crit_integral cost = 0;
	uint64_t path_ns = 0;

	for (size_t i = 0; i <= costs->bucket_count; i++) {
		for (int part = 0; part < CRIT_PART_COUNT; part++) {
			cost += costs->buckets[i].cost[part];
			path_ns += costs->buckets[i].path_ns[part];
		}
	}
	if (cost != costs->waiting)
		return crit_err_set(err, -EPROTO, "buckets cost %.0f ns, waits are %.0f ns",
				    (double)cost, (double)costs->waiting);
	if (path_ns != costs->window_ns)
		return crit_err_set(err, -EPROTO, "the critical path has %llu ns of %llu",
				    (unsigned long long)path_ns,
				    (unsigned long long)costs->window_ns);
	return check_threads(costs, err) ? -EPROTO : check_edges(costs, err);
}
