// SPDX-License-Identifier: BSD-3-Clause
// Who waits for whom, from the end of a film to its begin; time counts from the window's end.
#include "analysis/waits/backplay.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/waits/forest.h"
#include "analysis/waits/rewind.h"

struct waiting { /* the open wait of a node; type END: there is one */
	uint32_t number;
	uint8_t type, kind;
	bool is_cut; /* out of a cycle */
	uint64_t open_ns, linked_ns;
	crit_integral linked_load;
	uint64_t linked_parts[CRIT_PART_COUNT]; /* of what it is linked to */
	uint32_t act; /* row of what it waits for; CRIT_NONE: it is no thread's */
};

struct node {
	uint32_t name; /* in the film */
	uint32_t bucket;
	uint32_t waiters; /* nodes linked to it */
	uint32_t act; /* row of its latest act that somebody waited for */
	bool is_over; /* an object before its begin */
	bool is_queued; /* it has no CPU */
	bool is_asleep; /* it is blocked */
	uint64_t since_ns; /* until where all is booked */
	uint64_t part_ns[CRIT_PART_COUNT]; /* what it did, for an object without its holders */
	crit_integral booked_load, booked_direct;
	int64_t direct; /* threads that wait for it with only objects between, and itself */
	crit_integral direct_moments; /* as the forest has those of loads */
	struct waiting wait;
};

struct play {
	const struct crit_backplay_options *options;
	struct crit_costs *costs;
	struct crit_forest forest;
	struct node *nodes; /* threads, then objects */
	size_t count, capacity;
	struct crit_index objects; /* name -> node */
	struct crit_index numbers; /* number of an open wait -> node */
	uint32_t *unused; /* nodes of objects that are over */
	size_t unused_count, unused_capacity;
	uint64_t now_ns;
	uint32_t path, path_thread; /* where the critical path is, and its last thread */
};

static bool is_object(const struct node *node)
{
	return node->name & CRIT_FILM_OBJECT;
}

static bool is_linked(const struct play *play, uint32_t at)
{
	return crit_forest_parent(&play->forest, at) != CRIT_NONE;
}

static bool is_waiting(const struct node *node)
{
	return node->wait.type && node->wait.kind != CRIT_FILM_HOLD;
}

static uint32_t vertex_of(const struct node *node)
{
	return is_object(node) ? CRIT_FILM_OBJECT | node->bucket : node->name;
}

/* What a root does. */
static enum crit_part part_of(const struct play *play, const struct node *node)
{
	const struct crit_backplay_options *options = play->options;
	enum crit_part part = node->bucket < options->bucket_count
				      ? (enum crit_part)options->bucket_parts[node->bucket]
				      : CRIT_PART_UNKNOWN;

	if (node->is_queued)
		return CRIT_PART_CPU;
	if (!is_waiting(node) && node->is_asleep && part == CRIT_PART_SELF)
		return CRIT_PART_BLOCKED;
	if (!is_waiting(node) || part == CRIT_PART_CPU)
		return part;
	return node->wait.is_cut ? CRIT_PART_UNKNOWN : CRIT_PART_TRANSFER;
}

static crit_integral direct_of(const struct play *play, const struct node *node)
{
	return (crit_integral)node->direct * play->now_ns - node->direct_moments;
}

/* A node begins to be a root, or the load of one is booked. */
static void note_load(struct play *play, uint32_t at)
{
	struct node *node = &play->nodes[at];

	node->booked_load = crit_forest_integral(&play->forest, at, play->now_ns);
	node->booked_direct = direct_of(play, node);
}

/* Books what a node did since it was booked last. */
static void book(struct play *play, uint32_t at)
{
	struct node *node = &play->nodes[at];
	const uint64_t passed_ns = play->now_ns - node->since_ns;
	const size_t bucket_count = play->costs->bucket_count;
	struct crit_cost *cost;
	crit_integral direct;
	enum crit_part part;

	node->since_ns = play->now_ns;
	if (!passed_ns)
		return;
	part = is_linked(play, at) ? CRIT_PART_NESTED : part_of(play, node);
	if (is_waiting(node)) {
		const size_t thread = is_object(node) ? play->costs->thread_count : node->name;

		play->costs->threads[thread].part_ns[part] += passed_ns;
	}
	if (part == CRIT_PART_NESTED) {
		node->part_ns[part] += is_object(node) ? 0 : passed_ns;
		return;
	}
	node->part_ns[part] += passed_ns;
	cost = &play->costs->buckets[node->bucket < bucket_count ? node->bucket : bucket_count];
	cost->cost[part] -= node->booked_load;
	direct = -node->booked_direct;
	note_load(play, at);
	cost->cost[part] += node->booked_load;
	direct += node->booked_direct;
	cost->direct += direct;
	if (part == CRIT_PART_CPU)
		cost->direct_cpu += direct;
	if (part == CRIT_PART_BLOCKED)
		cost->direct_blocked += direct;
	if (play->path == at)
		cost->path_ns[part] += passed_ns;
}

/*
 * What a node did until now, in all.  An object does what its holder does, so from a link on the
 * holder's parts count instead of its own.
 */
static void read_parts(const struct play *play, uint32_t at, uint64_t ret_part_ns[CRIT_PART_COUNT])
{
	for (int part = 0; part < CRIT_PART_COUNT; part++)
		ret_part_ns[part] = 0;
	for (;;) {
		const struct node *node = &play->nodes[at];
		const bool is_held = is_object(node) && is_linked(play, at);

		for (int part = 0; part < CRIT_PART_COUNT; part++)
			ret_part_ns[part] +=
				node->part_ns[part] - (is_held ? node->wait.linked_parts[part] : 0);
		if (!is_held) {
			ret_part_ns[is_linked(play, at) ? CRIT_PART_NESTED : part_of(play, node)] +=
				play->now_ns - node->since_ns;
			return;
		}
		at = crit_forest_parent(&play->forest, at);
	}
}

/* More or fewer threads wait for a node directly, and for who holds it. */
static void add_direct(struct play *play, uint32_t at, int64_t change)
{
	for (;;) {
		struct node *node = &play->nodes[at];

		node->direct += change;
		node->direct_moments += (crit_integral)change * play->now_ns;
		if (!is_object(node) || !is_linked(play, at))
			return;
		at = crit_forest_parent(&play->forest, at);
	}
}

/* How many threads it brings to what it is linked to. */
static int64_t brought(const struct node *node)
{
	return is_object(node) ? node->direct : is_waiting(node);
}

static int make_node(struct play *play, uint32_t name, uint32_t *ret_at)
{
	uint32_t at;
	int rc = 0;

	if (play->unused_count) {
		at = play->unused[--play->unused_count];
	} else {
		at = (uint32_t)play->count;
		rc = crit_array_grow(&play->nodes, &play->capacity, play->count + 1,
				     sizeof(*play->nodes));
		if (!rc)
			rc = crit_forest_grow(&play->forest, play->count + 1);
		if (rc)
			return rc;
		play->count++;
	}
	play->nodes[at] = (struct node){ .name = name,
					 .bucket = CRIT_FILM_NO_BUCKET,
					 .act = CRIT_NONE,
					 .since_ns = play->now_ns };
	note_load(play, at);
	*ret_at = at;
	return 0;
}

/* The node of a thread or an object, which is made where it was not met. */
static int find_node(struct play *play, uint32_t name, uint32_t *ret_at)
{
	struct crit_probe probe;
	int rc;

	if (!(name & CRIT_FILM_OBJECT)) {
		*ret_at = name;
		return name < play->options->thread_count ? 0 : -EPROTO;
	}
	for (uint32_t at = crit_index_first(&play->objects, name, &probe); at != CRIT_NONE;
	     at = crit_index_next(&play->objects, &probe)) {
		if (play->nodes[at].name == name) {
			*ret_at = at;
			return 0;
		}
	}
	rc = make_node(play, name, ret_at);
	return rc ? rc : crit_index_put(&play->objects, name, *ret_at);
}

static void remove_from(struct crit_index *index, uint32_t key, uint32_t at)
{
	struct crit_probe probe;
	uint32_t found = crit_index_first(index, key, &probe);

	while (found != CRIT_NONE && found != at)
		found = crit_index_next(index, &probe);
	if (found != CRIT_NONE)
		crit_index_remove(index, &probe);
}

/* Gives back the node of an object that is over, if nobody waits for it and it for nobody. */
static int drop_object(struct play *play, uint32_t at)
{
	struct node *node = &play->nodes[at];
	int rc;

	if (!node->is_over || node->waiters || node->wait.type)
		return 0;
	rc = crit_array_grow(&play->unused, &play->unused_capacity, play->unused_count + 1,
			     sizeof(*play->unused));
	if (rc)
		return rc;
	book(play, at);
	node->is_over = false;
	remove_from(&play->objects, node->name, at);
	play->unused[play->unused_count++] = at;
	return 0;
}

/* The wait state of a node ends backwards: its edge is booked, and it is a root. */
static int unlink_node(struct play *play, uint32_t at)
{
	struct node *node = &play->nodes[at];
	const uint32_t to = crit_forest_parent(&play->forest, at);
	uint64_t parts[CRIT_PART_COUNT];
	struct crit_wait_edge *edge;
	crit_integral impact;

	book(play, at);
	read_parts(play, to, parts);
	if (is_object(node)) {
		for (int part = 0; part < CRIT_PART_COUNT; part++)
			node->part_ns[part] += parts[part] - node->wait.linked_parts[part];
	}
	impact = crit_forest_integral(&play->forest, at, play->now_ns) - node->wait.linked_load;
	if (node->wait.act != CRIT_NONE)
		crit_late_acts_unlink(&play->costs->acts, node->wait.act, vertex_of(node),
				      node->bucket, play->now_ns - node->wait.linked_ns, impact);
	/* a cycle may be cut at a link that was just made */
	if (play->now_ns > node->wait.linked_ns && (is_object(node) || is_waiting(node))) {
		edge = crit_costs_edge(play->costs, vertex_of(node), vertex_of(&play->nodes[to]));
		edge->count++;
		edge->raw_ns += play->now_ns - node->wait.linked_ns;
		for (int part = 0; part < CRIT_PART_COUNT; part++)
			edge->part_ns[part] += parts[part] - node->wait.linked_parts[part];
		edge->impact += impact;
	}
	add_direct(play, to, -brought(node));
	crit_forest_cut(&play->forest, at, play->now_ns);
	note_load(play, at);
	play->nodes[to].waiters--;
	return drop_object(play, to);
}

/* Takes the largest node out of the cycle that a link of a root to its own tree would make. */
static int cut_cycle(struct play *play, uint32_t root, uint32_t to)
{
	uint32_t largest = root;
	int rc = 0;

	for (uint32_t at = to; at != root; at = crit_forest_parent(&play->forest, at)) {
		if (play->nodes[at].name > play->nodes[largest].name)
			largest = at;
	}
	play->costs->cycle_count++;
	if (largest != root)
		rc = unlink_node(play, largest);
	play->nodes[largest].wait.is_cut = true;
	return rc;
}

/* What it waits for is what a thread did until now, or is no act. */
static int link_act(struct play *play, struct node *node, struct node *to)
{
	int rc;

	node->wait.act = CRIT_NONE;
	if (is_object(to) || (!is_object(node) && !is_waiting(node)))
		return 0;
	rc = crit_late_acts_link(&play->costs->acts, &to->act, to->name, to->bucket, play->now_ns);
	node->wait.act = rc ? CRIT_NONE : to->act;
	return rc;
}

/* Of several causes of a wait the latest act ended it, which is met first. */
static int link_waiter(struct play *play, uint32_t at, uint32_t to)
{
	struct waiting *wait = &play->nodes[at].wait;
	int rc;

	if (play->nodes[to].is_over)
		return -EPROTO;
	if (wait->is_cut || is_linked(play, at))
		return 0;
	book(play, at);
	if (!crit_forest_link(&play->forest, at, to, play->now_ns)) {
		rc = cut_cycle(play, at, to);
		if (rc || wait->is_cut)
			return rc;
		(void)crit_forest_link(&play->forest, at, to, play->now_ns);
	}
	wait->linked_ns = play->now_ns;
	wait->linked_load = crit_forest_integral(&play->forest, at, play->now_ns);
	read_parts(play, to, wait->linked_parts);
	play->nodes[to].waiters++;
	add_direct(play, to, brought(&play->nodes[at]));
	return link_act(play, &play->nodes[at], &play->nodes[to]);
}

static int end_wait(struct play *play, const struct crit_film_entry *entry)
{
	struct node *node;
	uint32_t at;
	int rc = find_node(play, entry->node, &at);

	if (rc)
		return rc;
	node = &play->nodes[at];
	if (node->wait.type)
		return -EPROTO;
	book(play, at);
	node->wait = (struct waiting){ .number = entry->number,
				       .type = CRIT_FILM_END,
				       .kind = entry->kind,
				       .open_ns = play->now_ns };
	if (is_waiting(node)) {
		crit_forest_weigh(&play->forest, at, 1, play->now_ns);
		add_direct(play, at, 1);
	}
	return crit_index_put(&play->numbers, entry->number, at);
}

/* The begin of a wait, after which the node is what it was before. */
static int close_wait(struct play *play, uint32_t at)
{
	struct node *node = &play->nodes[at];
	int rc = 0;

	book(play, at);
	if (is_linked(play, at))
		rc = unlink_node(play, at);
	if (is_waiting(node)) {
		play->costs->waiting += play->now_ns - node->wait.open_ns;
		play->costs->wait_count++;
		crit_forest_weigh(&play->forest, at, -1, play->now_ns);
		add_direct(play, at, -1);
	}
	remove_from(&play->numbers, node->wait.number, at);
	node->wait = (struct waiting){ 0 };
	return rc ? rc : drop_object(play, at);
}

/* True: it was the begin of an open wait. */
static int begin_wait(struct play *play, const struct crit_film_entry *entry)
{
	uint32_t at;
	int rc = find_node(play, entry->node, &at);

	if (rc)
		return rc;
	if (!play->nodes[at].wait.type || play->nodes[at].wait.number != entry->number)
		return 0;
	rc = close_wait(play, at);
	return rc ? rc : 1;
}

static int change_bucket(struct play *play, const struct crit_film_entry *entry)
{
	uint32_t at;
	int rc = find_node(play, entry->node, &at);

	if (rc)
		return rc;
	if (entry->number >= play->options->bucket_count && entry->number != CRIT_FILM_NO_BUCKET)
		return -EPROTO;
	book(play, at);
	if (entry->number == CRIT_FILM_NO_BUCKET && is_object(&play->nodes[at])) {
		play->nodes[at].is_over = true;
		return drop_object(play, at);
	}
	play->nodes[at].bucket = entry->number;
	return 0;
}

/* Backwards, a node has no CPU until it began to want one, and is blocked until it blocks. */
static int change_state(struct play *play, const struct crit_film_entry *entry)
{
	uint32_t at;
	int rc = find_node(play, entry->node, &at);

	if (rc)
		return rc;
	book(play, at);
	if (entry->type == CRIT_FILM_QUEUE || entry->type == CRIT_FILM_RUN)
		play->nodes[at].is_queued = entry->type == CRIT_FILM_RUN;
	else
		play->nodes[at].is_asleep = entry->type == CRIT_FILM_WAKE;
	return 0;
}

/*
 * Links the waiter of a cause.  That of no open wait lies where the wait has no length.  Each node
 * has one link at most, so cycles have no node in common, and the order of links does not matter.
 */
static int take_cause(struct play *play, const struct crit_film_entry *cause)
{
	struct crit_probe probe;
	uint32_t at = crit_index_first(&play->numbers, cause->number, &probe), to;
	int rc;

	while (at != CRIT_NONE && play->nodes[at].wait.number != cause->number)
		at = crit_index_next(&play->numbers, &probe);
	if (at == CRIT_NONE)
		return 0;
	rc = find_node(play, cause->node, &to);
	return rc ? rc : link_waiter(play, at, to);
}

/* The critical path goes on in the root, and comes back from an object at the wait's begin. */
static void follow_path(struct play *play)
{
	uint32_t at = play->path_thread;

	if (at == play->path && !is_linked(play, at))
		return;
	while (is_linked(play, at)) {
		at = crit_forest_parent(&play->forest, at);
		if (!is_object(&play->nodes[at]))
			play->path_thread = at;
	}
	if (at == play->path)
		return;
	book(play, play->path);
	book(play, at);
	play->path = at;
}

static bool is_late(const struct crit_film_entry *entry)
{
	return crit_film_is_late((enum crit_film_type)entry->type);
}

/* All entries of one time: cuts, buckets, ends, links. */
static int take_batch(struct play *play, struct crit_film_entry *entries, size_t count)
{
	size_t others = 0;
	int rc = 0;

	for (; others < count && !is_late(&entries[others]) && rc >= 0; others++) {
		if (entries[others].type != CRIT_FILM_WAIT)
			continue;
		rc = begin_wait(play, &entries[others]);
		if (rc > 0)
			entries[others].type = CRIT_FILM_NONE;
	}
	for (size_t i = 0; i < others && rc >= 0; i++) {
		if (entries[i].type == CRIT_FILM_UNTIL)
			rc = change_bucket(play, &entries[i]);
		else if (entries[i].type >= CRIT_FILM_QUEUE && entries[i].type <= CRIT_FILM_WAKE)
			rc = change_state(play, &entries[i]);
	}
	/* now there are only begins of waits without length, and of those without end */
	for (size_t i = 0; i < others && rc >= 0; i++) {
		if (entries[i].type == CRIT_FILM_END)
			rc = end_wait(play, &entries[i]);
		else if (entries[i].type == CRIT_FILM_WAIT)
			rc = begin_wait(play, &entries[i]);
	}
	for (size_t i = others; i < count && rc >= 0; i++)
		if (entries[i].type == CRIT_FILM_CAUSE)
			rc = take_cause(play, &entries[i]);
	if (rc >= 0)
		follow_path(play);
	return rc < 0 ? rc : 0;
}

static int take_film(struct play *play, struct crit_film *film)
{
	const struct crit_backplay_options *options = play->options;
	struct crit_rewind rewind;
	int rc;

	crit_rewind_init(&rewind, film);
	for (;;) {
		rc = crit_rewind_next(&rewind);
		if (rc <= 0)
			break;
		rc = -EPROTO;
		if (rewind.time_ns > options->end_ns || rewind.time_ns < options->begin_ns)
			break;
		play->now_ns = options->end_ns - rewind.time_ns;
		rc = take_batch(play, rewind.now, rewind.count);
		if (rc)
			break;
	}
	crit_rewind_fini(&rewind);
	return rc;
}

/* The window's begin: waits that are still open begin there, or before. */
static int end_play(struct play *play)
{
	int rc = 0;

	play->now_ns = play->costs->window_ns;
	for (uint32_t at = 0; at < play->count && !rc; at++) {
		book(play, at);
		if (play->nodes[at].wait.type)
			rc = close_wait(play, at);
	}
	return rc;
}

static int begin_play(struct play *play)
{
	const struct crit_backplay_options *options = play->options;
	uint32_t at;
	int rc = crit_costs_init(play->costs, options->bucket_count, options->thread_count,
				 options->edges_max);

	if (options->end_ns < options->begin_ns || options->last_thread >= options->thread_count)
		return rc ? rc : -EINVAL;
	play->costs->window_ns = options->end_ns - options->begin_ns;
	for (uint32_t thread = 0; thread < options->thread_count && !rc; thread++)
		rc = make_node(play, thread, &at);
	return rc;
}

int crit_backplay(struct crit_film *film, const struct crit_backplay_options *options,
		  struct crit_costs *ret_costs, struct crit_err *err)
{
	struct play play = { .options = options,
			     .costs = ret_costs,
			     .path = options->last_thread,
			     .path_thread = options->last_thread };
	int rc = begin_play(&play);

	if (!rc)
		rc = take_film(&play, film);
	if (!rc)
		rc = end_play(&play);
	if (!rc)
		crit_late_acts_finish(&ret_costs->acts, ret_costs->window_ns);
	free(play.nodes);
	free(play.unused);
	crit_index_fini(&play.objects);
	crit_index_fini(&play.numbers);
	crit_forest_fini(&play.forest);
	if (!rc)
		return 0;
	crit_costs_fini(ret_costs);
	return crit_err_set(err, rc, "cannot play the film of the waits: %s", strerror(-rc));
}
