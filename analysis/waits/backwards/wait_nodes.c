// SPDX-License-Identifier: BSD-3-Clause
// Threads and objects, who waits for whom, and the books of what they do.
#include "analysis/waits/backwards/wait_nodes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"

#define PARTS_OF_WAITS /* set of what a node can do while it waits, as part_of has it */           \
	(1u << CRIT_PART_NESTED | 1u << CRIT_PART_TRANSFER | 1u << CRIT_PART_CPU |                 \
	 1u << CRIT_PART_UNKNOWN)

/* Of the time until now, without what it had no CPU. */
static uint64_t served_ns(const struct crit_wait_nodes *nodes, const struct crit_wait_node *node)
{
	return nodes->now_ns - node->part_ns[CRIT_PART_CPU];
}

static bool is_waiting(const struct crit_wait_node *node)
{
	return node->wait.type && node->wait.kind != CRIT_FILM_HOLD;
}

/* A thread, or an object by its bucket. */
static uint32_t who_of(const struct crit_wait_node *node, uint32_t bucket)
{
	return crit_wait_node_is_object(node) ? CRIT_FILM_OBJECT | bucket : node->name;
}

/* As edges have it, in a bucket. */
static uint32_t vertex_of(const struct crit_wait_nodes *nodes, const struct crit_wait_node *node,
			  uint32_t bucket)
{
	const size_t bucket_count = nodes->costs->bucket_count;

	if (!nodes->bucket_vertices || crit_wait_node_is_object(node))
		return who_of(node, bucket);
	return bucket < bucket_count ? nodes->bucket_vertices[bucket]
				     : (uint32_t)bucket_count + node->name;
}

/* What a root does. */
static inline enum crit_part part_of(const struct crit_wait_nodes *nodes,
				     const struct crit_wait_node *node)
{
	enum crit_part part = node->bucket < nodes->costs->bucket_count
				      ? (enum crit_part)nodes->bucket_parts[node->bucket]
				      : CRIT_PART_UNKNOWN;

	if (node->is_queued)
		return CRIT_PART_CPU;
	if (!is_waiting(node) && node->is_asleep && part == CRIT_PART_SELF)
		return CRIT_PART_BLOCKED;
	if (!is_waiting(node) || part == CRIT_PART_CPU)
		return part;
	return node->wait.is_cut ? CRIT_PART_UNKNOWN : CRIT_PART_TRANSFER;
}

/* A node begins to be a root now, or the load of one is booked. */
static void note_load(struct crit_wait_node *node, crit_integral load)
{
	node->booked_load = load;
	node->direct_moments = 0;
}

/*
 * Threads do in their waits what they do in all, without what they do else, which is less often
 * and is booked here, as is what objects do in waits.
 */
static void book_waited(struct crit_wait_nodes *nodes, uint32_t at, enum crit_part part,
			uint64_t passed_ns)
{
	struct crit_waited *threads = nodes->costs->threads;

	if (crit_wait_node_is_object(&nodes->rows[at]))
		threads[nodes->costs->thread_count].part_ns[part] += passed_ns;
	else if (PARTS_OF_WAITS & 1u << part)
		threads[at].part_ns[part] -= passed_ns;
}

void crit_wait_nodes_finish(struct crit_wait_nodes *nodes)
{
	for (size_t at = 0; at < nodes->costs->thread_count; at++) {
		for (unsigned int part = 0; part < CRIT_PART_COUNT; part++)
			nodes->costs->threads[at].part_ns[part] +=
				PARTS_OF_WAITS & 1u << part ? nodes->rows[at].part_ns[part] : 0;
	}
}

/* Who waited for a root, for so long: mostly nobody did. */
static void book_cost(struct crit_cost *cost, enum crit_part part, crit_integral load,
		      crit_integral direct)
{
	cost->cost[part] += load;
	cost->direct += direct;
	if (part == CRIT_PART_CPU)
		cost->direct_cpu += direct;
	if (part == CRIT_PART_BLOCKED)
		cost->direct_blocked += direct;
}

/* Apart, so that what is linked is booked without its registers. */
static __attribute__((noinline)) void book_root(struct crit_wait_nodes *nodes, uint32_t at,
						uint64_t passed_ns)
{
	struct crit_wait_node *node = &nodes->rows[at];
	const size_t bucket_count = nodes->costs->bucket_count;
	struct crit_cost *cost =
		&nodes->costs->buckets[node->bucket < bucket_count ? node->bucket : bucket_count];
	const enum crit_part part = part_of(nodes, node);
	crit_integral direct, load;

	if (is_waiting(node) == crit_wait_node_is_object(node))
		book_waited(nodes, at, part, passed_ns);
	node->part_ns[part] += passed_ns;
	if (nodes->path == at)
		cost->path_ns[part] += passed_ns;
	direct = (crit_integral)node->direct * passed_ns - node->direct_moments;
	load = crit_forest_integral(&nodes->forest, at, nodes->now_ns);
	if (load != node->booked_load || direct)
		book_cost(cost, part, load - node->booked_load, direct);
	note_load(node, load);
}

void crit_wait_nodes_book_since(struct crit_wait_nodes *nodes, uint32_t at, uint64_t passed_ns)
{
	struct crit_wait_node *node = &nodes->rows[at];

	node->since_ns = nodes->now_ns;
	node->booked_bucket = node->bucket;
	if (node->to == CRIT_NONE) {
		book_root(nodes, at, passed_ns);
		return;
	}
	if (is_waiting(node) == crit_wait_node_is_object(node))
		book_waited(nodes, at, CRIT_PART_NESTED, passed_ns);
	node->part_ns[CRIT_PART_NESTED] += crit_wait_node_is_object(node) ? 0 : passed_ns;
}

/*
 * What a node did until now, in all.  An object does what its holder does, so from a link on the
 * holder's parts count instead of its own.
 */
static void read_parts(const struct crit_wait_nodes *nodes, uint32_t at,
		       uint64_t ret_part_ns[CRIT_PART_COUNT])
{
	const struct crit_wait_node *node = &nodes->rows[at];
	enum crit_part part_now;

	memcpy(ret_part_ns, node->part_ns, sizeof(node->part_ns));
	while (crit_wait_node_is_object(node) && node->to != CRIT_NONE) {
		const struct crit_wait_node *holder = &nodes->rows[node->to];

		for (int part = 0; part < CRIT_PART_COUNT; part++)
			ret_part_ns[part] += holder->part_ns[part] - node->linked.part_ns[part];
		node = holder;
	}
	part_now = node->to != CRIT_NONE ? CRIT_PART_NESTED : part_of(nodes, node);
	ret_part_ns[part_now] += nodes->now_ns - node->since_ns;
}

/* More or fewer threads wait for a node directly, and for who holds it. */
static void add_direct(struct crit_wait_nodes *nodes, uint32_t at, int64_t change)
{
	for (;;) {
		struct crit_wait_node *node = &nodes->rows[at];

		node->direct += (int32_t)change;
		node->direct_moments += (crit_integral)change * (nodes->now_ns - node->since_ns);
		if (!crit_wait_node_is_object(node) || node->to == CRIT_NONE)
			return;
		at = node->to;
	}
}

/* How many threads it brings to what it is linked to. */
static int64_t brought(const struct crit_wait_node *node)
{
	return crit_wait_node_is_object(node) ? node->direct : is_waiting(node);
}

static int make_node(struct crit_wait_nodes *nodes, uint32_t name, uint32_t *ret_at)
{
	uint32_t at;
	int rc = 0;

	if (nodes->unused_count) {
		at = nodes->unused[--nodes->unused_count];
	} else {
		at = (uint32_t)nodes->count;
		rc = crit_lines_grow(&nodes->rows, &nodes->capacity, nodes->count + 1,
				     sizeof(*nodes->rows));
		if (!rc && nodes->bucket_vertices)
			rc = crit_array_grow(&nodes->links, &nodes->links_capacity,
					     nodes->count + 1, sizeof(*nodes->links));
		if (!rc)
			rc = crit_forest_grow(&nodes->forest, nodes->count + 1);
		if (rc)
			return rc;
		nodes->count++;
	}
	nodes->rows[at] = (struct crit_wait_node){ .name = name,
						   .is_object = name & CRIT_FILM_OBJECT,
						   .bucket = CRIT_FILM_NO_BUCKET,
						   .to = CRIT_NONE,
						   .act = CRIT_NONE,
						   .since_ns = nodes->now_ns };
	if (nodes->links)
		nodes->links[at].first = CRIT_NONE;
	note_load(&nodes->rows[at], crit_forest_integral(&nodes->forest, at, nodes->now_ns));
	*ret_at = at;
	return 0;
}

int crit_wait_nodes_init(struct crit_wait_nodes *nodes, size_t thread_count)
{
	uint32_t at;
	int rc =
		crit_lines_grow(&nodes->rows, &nodes->capacity, thread_count, sizeof(*nodes->rows));

	if (!rc)
		rc = crit_forest_grow(&nodes->forest, thread_count);
	for (uint32_t thread = 0; thread < thread_count && !rc; thread++)
		rc = make_node(nodes, thread, &at);
	return rc;
}

void crit_wait_nodes_fini(struct crit_wait_nodes *nodes)
{
	free(nodes->rows);
	free(nodes->links);
	free(nodes->unused);
	crit_index_fini(&nodes->objects);
	crit_forest_fini(&nodes->forest);
}

int crit_wait_nodes_find_object(struct crit_wait_nodes *nodes, uint32_t name, uint32_t *ret_at)
{
	struct crit_probe probe;
	int rc;

	for (uint32_t at = crit_index_first(&nodes->objects, name, &probe); at != CRIT_NONE;
	     at = crit_index_next(&nodes->objects, &probe)) {
		if (nodes->rows[at].name == name) {
			*ret_at = at;
			return 0;
		}
	}
	rc = make_node(nodes, name, ret_at);
	return rc ? rc : crit_index_put(&nodes->objects, name, *ret_at);
}

int crit_wait_nodes_drop(struct crit_wait_nodes *nodes, uint32_t at)
{
	struct crit_wait_node *node = &nodes->rows[at];
	int rc;

	if (!node->is_over || node->waiters || node->wait.type)
		return 0;
	rc = crit_array_grow(&nodes->unused, &nodes->unused_capacity, nodes->unused_count + 1,
			     sizeof(*nodes->unused));
	if (rc)
		return rc;
	crit_wait_nodes_book(nodes, at);
	node->is_over = false;
	crit_index_forget(&nodes->objects, node->name, at);
	nodes->unused[nodes->unused_count++] = at;
	return 0;
}

static void read_link(const struct crit_wait_nodes *nodes, uint32_t to,
		      struct crit_link_books *ret_books)
{
	ret_books->ns = nodes->now_ns;
	read_parts(nodes, to, ret_books->part_ns);
}

/* Is it another pair than the link was booked for last? */
static bool goes_on_at(struct crit_wait_nodes *nodes, uint32_t at, size_t edge)
{
	const size_t before = nodes->links ? nodes->links[at].edge : SIZE_MAX;

	if (nodes->links)
		nodes->links[at].edge = edge;
	return edge != before;
}

/*
 * What passed on a link between two readings, and the load in that; nothing where a cycle is cut
 * as it is made.
 */
static void book_edge(struct crit_wait_nodes *nodes, uint32_t at,
		      const struct crit_link_books *since, const struct crit_link_books *now,
		      crit_integral load)
{
	struct crit_wait_node *node = &nodes->rows[at];
	const struct crit_wait_node *to = &nodes->rows[node->to];
	struct crit_wait_edge *edge;

	if (now->ns == since->ns || (!crit_wait_node_is_object(node) && !is_waiting(node)))
		return;
	edge = crit_costs_edge(nodes->costs, vertex_of(nodes, node, node->bucket),
			       vertex_of(nodes, to, to->bucket));
	edge->count += goes_on_at(nodes, at, (size_t)(edge - nodes->costs->edges));
	edge->raw_ns += now->ns - since->ns;
	for (int part = 0; part < CRIT_PART_COUNT; part++)
		edge->part_ns[part] += now->part_ns[part] - since->part_ns[part];
	edge->impact += load;
}

/* Before either end of a link is another vertex. */
static void book_link(struct crit_wait_nodes *nodes, uint32_t at)
{
	struct crit_node_links *links = &nodes->links[at];
	const crit_integral load = crit_forest_integral(&nodes->forest, at, nodes->now_ns);
	struct crit_link_books now;

	read_link(nodes, nodes->rows[at].to, &now);
	book_edge(nodes, at, &links->same, &now, load - links->same_load);
	links->same = now;
	links->same_load = load;
}

/* Of vertices alone: who is linked to a node is known to it. */
static void note_linked(struct crit_wait_nodes *nodes, uint32_t at, uint32_t to)
{
	struct crit_node_links *links = &nodes->links[at];

	links->before = CRIT_NONE;
	links->next = nodes->links[to].first;
	if (links->next != CRIT_NONE)
		nodes->links[links->next].before = at;
	nodes->links[to].first = at;
	links->same = nodes->rows[at].linked;
	links->same_load = nodes->rows[at].booked_load;
	links->edge = SIZE_MAX;
}

static void forget_linked(struct crit_wait_nodes *nodes, uint32_t at, uint32_t to)
{
	const struct crit_node_links *links = &nodes->links[at];

	if (links->next != CRIT_NONE)
		nodes->links[links->next].before = links->before;
	if (links->before != CRIT_NONE)
		nodes->links[links->before].next = links->next;
	else
		nodes->links[to].first = links->next;
}

void crit_wait_nodes_move(struct crit_wait_nodes *nodes, uint32_t at, uint32_t bucket)
{
	struct crit_wait_node *node = &nodes->rows[at];

	crit_wait_nodes_book(nodes, at);
	if (nodes->links &&
	    vertex_of(nodes, node, bucket) != vertex_of(nodes, node, node->bucket)) {
		if (crit_wait_nodes_is_linked(nodes, at))
			book_link(nodes, at);
		for (uint32_t each = nodes->links[at].first; each != CRIT_NONE;
		     each = nodes->links[each].next)
			book_link(nodes, each);
	}
	node->bucket = bucket;
	if (bucket < nodes->costs->bucket_count) { /* what is booked when it moves on */
		__builtin_prefetch(&nodes->costs->buckets[bucket], 1);
		__builtin_prefetch(nodes->costs->buckets[bucket].path_ns, 1);
	}
}

/* The wait state of a node ends backwards: its edge is booked, and it is a root. */
static int unlink_node(struct crit_wait_nodes *nodes, uint32_t at)
{
	struct crit_wait_node *node = &nodes->rows[at];
	const uint32_t to = node->to;
	struct crit_link_books now;
	crit_integral load;

	crit_wait_nodes_book(nodes, at);
	read_link(nodes, to, &now);
	load = crit_forest_integral(&nodes->forest, at, nodes->now_ns);
	if (crit_wait_node_is_object(node)) {
		for (int part = 0; part < CRIT_PART_COUNT; part++)
			node->part_ns[part] += now.part_ns[part] - node->linked.part_ns[part];
	}
	if (node->wait.act != CRIT_NONE)
		crit_late_acts_unlink(&nodes->costs->acts, node->wait.act,
				      who_of(node, node->bucket), node->booked_bucket,
				      now.ns - node->linked.ns, load - node->booked_load);
	if (nodes->links) {
		book_edge(nodes, at, &nodes->links[at].same, &now,
			  load - nodes->links[at].same_load);
		forget_linked(nodes, at, to);
	} else {
		book_edge(nodes, at, &node->linked, &now, load - node->booked_load);
	}
	add_direct(nodes, to, -brought(node));
	crit_forest_cut(&nodes->forest, at, nodes->now_ns);
	node->to = CRIT_NONE;
	note_load(node, load);
	nodes->rows[to].waiters--;
	return crit_wait_nodes_drop(nodes, to);
}

/* Takes the largest node out of the cycle that a link of a root to its own tree would make. */
static int cut_cycle(struct crit_wait_nodes *nodes, uint32_t root, uint32_t to)
{
	uint32_t largest = root;
	int rc = 0;

	for (uint32_t at = to; at != root; at = nodes->rows[at].to) {
		if (nodes->rows[at].name > nodes->rows[largest].name)
			largest = at;
	}
	nodes->costs->cycle_count++;
	if (largest != root)
		rc = unlink_node(nodes, largest);
	nodes->rows[largest].wait.is_cut = true;
	return rc;
}

/* What it waits for is what a thread did until now, or is no act. */
static int link_act(struct crit_wait_nodes *nodes, struct crit_wait_node *node,
		    struct crit_wait_node *to)
{
	int rc;

	node->wait.act = CRIT_NONE;
	if (crit_wait_node_is_object(to) || (!crit_wait_node_is_object(node) && !is_waiting(node)))
		return 0;
	rc = crit_late_acts_link(&nodes->costs->acts, &to->act, to->name, to->bucket,
				 nodes->now_ns);
	node->wait.act = rc ? CRIT_NONE : to->act;
	return rc;
}

/* Of several causes of a wait the latest act ended it, which is met first. */
int crit_wait_nodes_link(struct crit_wait_nodes *nodes, uint32_t at, uint32_t to)
{
	struct crit_wait_node *node = &nodes->rows[at];
	int rc;

	if (nodes->rows[to].is_over)
		return -EPROTO;
	if (node->wait.is_cut || node->to != CRIT_NONE)
		return 0;
	crit_wait_nodes_book(nodes, at);
	if (!crit_forest_link(&nodes->forest, at, to, nodes->now_ns)) {
		rc = cut_cycle(nodes, at, to);
		if (rc || node->wait.is_cut)
			return rc;
		(void)crit_forest_link(&nodes->forest, at, to, nodes->now_ns);
	}
	node->to = to;
	read_link(nodes, to, &node->linked);
	if (nodes->links)
		note_linked(nodes, at, to);
	nodes->rows[to].waiters++;
	add_direct(nodes, to, brought(node));
	return link_act(nodes, node, &nodes->rows[to]);
}

void crit_wait_nodes_open(struct crit_wait_nodes *nodes, uint32_t at,
			  const struct crit_node_wait *wait)
{
	struct crit_wait_node *node = &nodes->rows[at];

	crit_wait_nodes_book(nodes, at);
	node->wait = *wait;
	if (is_waiting(node)) {
		nodes->costs->waiting -= nodes->now_ns; /* its end adds */
		if (!crit_wait_node_is_object(node))
			nodes->costs->threads[at].open_ns = served_ns(nodes, node);
		crit_forest_weigh(&nodes->forest, at, 1, nodes->now_ns);
		add_direct(nodes, at, 1);
	}
}

int crit_wait_nodes_close(struct crit_wait_nodes *nodes, uint32_t at)
{
	struct crit_wait_node *node = &nodes->rows[at];
	int rc = 0;

	crit_wait_nodes_book(nodes, at);
	if (crit_wait_nodes_is_linked(nodes, at))
		rc = unlink_node(nodes, at);
	else if (is_waiting(node) && !crit_wait_node_is_object(node))
		nodes->costs->endless_ns +=
			served_ns(nodes, node) - nodes->costs->threads[at].open_ns;
	if (is_waiting(node)) {
		nodes->costs->waiting += nodes->now_ns;
		nodes->costs->wait_count++;
		crit_forest_weigh(&nodes->forest, at, -1, nodes->now_ns);
		add_direct(nodes, at, -1);
	}
	node->wait = (struct crit_node_wait){ 0 };
	return rc ? rc : crit_wait_nodes_drop(nodes, at);
}
