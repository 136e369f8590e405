// SPDX-License-Identifier: BSD-3-Clause
// Tarjan's search, on arrays in place of recursion.
#include "report/graph/components.h"

#include <errno.h>

#include "core/base/array.h"

struct component_search {
	uint32_t *first, *targets; /* of each vertex, edges from first[v] to first[v + 1] */
	uint32_t *next; /* edge to look at */
	uint32_t *number; /* in the order in which they are met, from 1 on; 0: not met */
	uint32_t *low; /* the lowest number that is reached and in no component yet */
	uint32_t *path, *stack; /* from the root to here; those in no component yet */
	uint32_t path_count, stack_count, numbered;
};

static void sort_edges(struct component_search *search, size_t vertex_count,
		       const struct crit_graph_edge *edges, size_t edge_count)
{
	for (size_t i = 0; i < edge_count; i++)
		search->first[edges[i].from + 1]++;
	for (size_t v = 0; v < vertex_count; v++) {
		search->first[v + 1] += search->first[v];
		search->next[v] = search->first[v];
	}
	for (size_t i = 0; i < edge_count; i++)
		search->targets[search->next[edges[i].from]++] = edges[i].to;
	for (size_t v = 0; v < vertex_count; v++)
		search->next[v] = search->first[v];
}

static void push(struct component_search *search, uint32_t vertex)
{
	search->number[vertex] = search->low[vertex] = ++search->numbered;
	search->path[search->path_count++] = vertex;
	search->stack[search->stack_count++] = vertex;
}

/* All that is reached from a vertex was looked at. */
static void pop(struct component_search *search, struct crit_components *components,
		uint32_t vertex)
{
	search->path_count--;
	if (search->path_count) {
		uint32_t *low = &search->low[search->path[search->path_count - 1]];

		if (search->low[vertex] < *low)
			*low = search->low[vertex];
	}
	if (search->low[vertex] != search->number[vertex])
		return;
	while (search->stack_count) {
		const uint32_t member = search->stack[--search->stack_count];

		components->of_vertex[member] = (uint32_t)components->count;
		if (member == vertex)
			break;
	}
	components->count++;
}

static void search_from(struct component_search *search, struct crit_components *components,
			uint32_t root)
{
	push(search, root);
	while (search->path_count) {
		const uint32_t vertex = search->path[search->path_count - 1];
		uint32_t to;

		if (search->next[vertex] == search->first[vertex + 1]) {
			pop(search, components, vertex);
			continue;
		}
		to = search->targets[search->next[vertex]++];
		if (!search->number[to])
			push(search, to);
		else if (components->of_vertex[to] == CRIT_NONE &&
			 search->number[to] < search->low[vertex])
			search->low[vertex] = search->number[to];
	}
}

int crit_components_find(struct crit_components *components, size_t vertex_count,
			 const struct crit_graph_edge *edges, size_t edge_count)
{
	const size_t room_size = 6 * vertex_count + 1 + edge_count;
	struct component_search search = { 0 };

	components->count = 0;
	if (crit_array_grow(&components->of_vertex, &components->vertex_room, vertex_count + 1,
			    sizeof(*components->of_vertex)) ||
	    crit_array_grow(&components->room, &components->room_size, room_size,
			    sizeof(*components->room)))
		return -ENOMEM;
	memset(components->room, 0, room_size * sizeof(*components->room));
	memset(components->of_vertex, 0xff, vertex_count * sizeof(*components->of_vertex));
	search.number = components->room;
	search.low = search.number + vertex_count;
	search.next = search.low + vertex_count;
	search.path = search.next + vertex_count;
	search.stack = search.path + vertex_count;
	search.first = search.stack + vertex_count;
	search.targets = search.first + vertex_count + 1;
	sort_edges(&search, vertex_count, edges, edge_count);
	for (size_t v = 0; v < vertex_count; v++) {
		if (!search.number[v])
			search_from(&search, components, (uint32_t)v);
	}
	return 0;
}

void crit_components_fini(struct crit_components *components)
{
	free(components->of_vertex);
	free(components->room);
	*components = (struct crit_components){ 0 };
}
