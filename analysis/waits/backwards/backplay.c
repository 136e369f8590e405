// SPDX-License-Identifier: BSD-3-Clause
// Who waits for whom, from the end of a film to its begin; time counts from the window's end.
#include "analysis/waits/backwards/backplay.h"

#include <errno.h>

#include "analysis/waits/backwards/wait_nodes.h"
#include "analysis/waits/film/rewind.h"

#define READ_ENTRIES 256u /* that are handed over at once, but for those of one time */

struct play {
	const struct crit_backplay_options *options;
	struct crit_wait_nodes nodes;
	uint32_t path_thread; /* the last one on the critical path */
	uint32_t woken_count; /* open sleeps that are waits for a waker */
};

static int end_wait(struct play *play, const struct crit_film_entry *entry)
{
	uint32_t at;
	int rc = crit_wait_nodes_find(&play->nodes, entry->node, &at);

	if (rc)
		return rc;
	if (play->nodes.rows[at].wait.type)
		return -EPROTO;
	crit_wait_nodes_open(&play->nodes, at,
			     &(struct crit_node_wait){ .number = entry->number,
						       .type = CRIT_FILM_END,
						       .kind = entry->kind });
	return 0;
}

/* True: it was the begin of an open wait. */
static int begin_wait(struct play *play, const struct crit_film_entry *entry)
{
	const struct crit_node_wait *wait;
	uint32_t at;
	int rc = crit_wait_nodes_find(&play->nodes, entry->node, &at);

	if (rc)
		return rc;
	wait = &play->nodes.rows[at].wait;
	if (wait->type != CRIT_FILM_END || wait->number != entry->number)
		return 0;
	rc = crit_wait_nodes_close(&play->nodes, at);
	return rc ? rc : 1;
}

static int change_bucket(struct play *play, uint32_t name, uint32_t bucket)
{
	uint32_t at;
	int rc = crit_wait_nodes_find(&play->nodes, name, &at);

	if (rc)
		return rc;
	if (bucket >= play->options->bucket_count && bucket != CRIT_FILM_NO_BUCKET)
		return -EPROTO;
	if (bucket == CRIT_FILM_NO_BUCKET && crit_wait_node_is_object(&play->nodes.rows[at])) {
		crit_wait_nodes_book(&play->nodes, at);
		play->nodes.rows[at].is_over = true;
		return crit_wait_nodes_drop(&play->nodes, at);
	}
	crit_wait_nodes_move(&play->nodes, at, bucket);
	return 0;
}

/* Backwards, a node has no CPU until it began to want one, and is blocked until it blocks. */
static int change_state(struct play *play, const struct crit_film_entry *entry)
{
	uint32_t at;
	int rc = crit_wait_nodes_find(&play->nodes, entry->node, &at);

	if (rc)
		return rc;
	if (!crit_wait_nodes_is_linked(&play->nodes, at)) /* else it does what that does */
		crit_wait_nodes_book(&play->nodes, at);
	if (entry->type == CRIT_FILM_QUEUE || entry->type == CRIT_FILM_RUN)
		play->nodes.rows[at].is_queued = entry->type == CRIT_FILM_RUN;
	else
		play->nodes.rows[at].is_asleep = entry->type == CRIT_FILM_WAKE;
	return 0;
}

/*
 * Links the waiter of a cause.  That of no open wait lies where the wait has no length.  Each node
 * has one link at most, so cycles have no node in common, and the order of links does not matter.
 */
static int take_cause(struct play *play, const struct crit_film_entry *cause)
{
	const struct crit_node_wait *wait;
	uint32_t at, to;
	int rc = crit_wait_nodes_find(&play->nodes, cause->more, &at);

	if (rc)
		return rc;
	wait = &play->nodes.rows[at].wait;
	if (wait->type != CRIT_FILM_END || wait->number != cause->number)
		return 0;
	rc = crit_wait_nodes_find(&play->nodes, cause->node, &to);
	return rc ? rc : crit_wait_nodes_link(&play->nodes, at, to);
}

/* A sleep was a wait for the waker, if it is none of another wait. */
static int take_woken(struct play *play, const struct crit_film_entry *entry)
{
	uint32_t at, to = CRIT_NONE;
	int rc = crit_wait_nodes_find(&play->nodes, entry->number, &at);

	if (!rc)
		rc = crit_wait_nodes_find(&play->nodes, entry->node, &to);
	if (rc || at == to || !play->nodes.rows[at].is_asleep || play->nodes.rows[at].wait.type)
		return rc;
	play->woken_count++;
	crit_wait_nodes_open(&play->nodes, at,
			     &(struct crit_node_wait){ .type = CRIT_FILM_WOKEN,
						       .kind = entry->kind });
	return crit_wait_nodes_link(&play->nodes, at, to);
}

/* The critical path goes on in the root, and comes back from an object at the wait's begin. */
static void follow_path(struct play *play)
{
	uint32_t at = play->path_thread;

	if (at == play->nodes.path && !crit_wait_nodes_is_linked(&play->nodes, at))
		return;
	while (crit_wait_nodes_is_linked(&play->nodes, at)) {
		at = play->nodes.rows[at].to;
		if (!crit_wait_node_is_object(&play->nodes.rows[at]))
			play->path_thread = at;
	}
	if (at == play->nodes.path)
		return;
	crit_wait_nodes_book(&play->nodes, play->nodes.path);
	crit_wait_nodes_book(&play->nodes, at);
	play->nodes.path = at;
}

static bool is_late(const struct crit_film_entry *entry)
{
	return crit_film_is_late((enum crit_film_type)entry->type);
}

/* Yields 1 where that is all.  A wait in a sleep, which no sound recording has, cuts that. */
static int take_begin(struct play *play, const struct crit_film_entry *entry)
{
	uint32_t at;
	int rc;

	if (entry->type == CRIT_FILM_WAIT)
		return begin_wait(play, entry);
	if (!play->woken_count || (entry->type != CRIT_FILM_SLEEP && entry->type != CRIT_FILM_END))
		return 0;
	rc = crit_wait_nodes_find(&play->nodes, entry->node, &at);
	if (rc || play->nodes.rows[at].wait.type != CRIT_FILM_WOKEN)
		return rc;
	play->woken_count--;
	return crit_wait_nodes_close(&play->nodes, at);
}

/* What a node does before it, and the begin or end of its wait, if that is no cut. */
static int take_change(struct play *play, const struct crit_film_entry *entry, bool is_cut)
{
	int rc = 0;

	if (entry->type == CRIT_FILM_UNTIL)
		rc = change_bucket(play, entry->node, entry->number);
	else if (crit_film_tells(entry))
		rc = change_bucket(play, entry->node, crit_film_told(entry));
	else if (crit_film_is_state(entry->type))
		rc = change_state(play, entry);
	if (rc)
		return rc;
	if (entry->type == CRIT_FILM_END)
		return end_wait(play, entry);
	/* now there are only begins of waits without length, and of those without end */
	return entry->type == CRIT_FILM_WAIT && !is_cut ? begin_wait(play, entry) : 0;
}

static int take_late(struct play *play, const struct crit_film_entry *entry)
{
	if (entry->type == CRIT_FILM_CAUSE)
		return take_cause(play, entry);
	if (entry->type == CRIT_FILM_WOKEN)
		return take_woken(play, entry);
	if (entry->type == CRIT_FILM_QUEUE) /* one that was kept, too */
		return change_state(play, entry);
	return 0;
}

/* All entries of one time: cuts, then buckets and ends, then links. */
static int take_batch(struct play *play, struct crit_film_entry *entries, size_t count)
{
	size_t others = 0;
	int rc = 0;

	for (; others < count && !is_late(&entries[others]) && rc >= 0; others++) {
		rc = take_begin(play, &entries[others]);
		if (rc > 0)
			entries[others].type = CRIT_FILM_NONE; /* a WAIT, until its change */
	}
	for (size_t i = 0; i < others && rc >= 0; i++) {
		const bool is_cut = entries[i].type == CRIT_FILM_NONE;

		if (is_cut)
			entries[i].type = CRIT_FILM_WAIT;
		rc = take_change(play, &entries[i], is_cut);
	}
	for (size_t i = others; i < count && rc >= 0; i++)
		rc = take_late(play, &entries[i]);
	if (rc >= 0)
		follow_path(play);
	return rc < 0 ? rc : 0;
}

/* Most times have only changes of who has a CPU, which leave links as they are. */
static int take_moment(struct play *play, struct crit_film_entry *entries, size_t count)
{
	int rc = 0;

	for (; count && !rc; entries++, count--) {
		if (entries->type != CRIT_FILM_QUEUE && entries->type != CRIT_FILM_RUN)
			return take_batch(play, entries, count);
		rc = change_state(play, entries);
	}
	return rc;
}

static void hand_over(const struct play *play, struct crit_rewind *rewind)
{
	const struct crit_backplay_reader *reader = &play->options->reader;

	if (reader->take)
		reader->take(reader->user, rewind->read.entries, rewind->read.count);
	crit_rewind_empty(rewind);
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
		play->nodes.now_ns = options->end_ns - rewind.time_ns;
		rc = take_moment(play, &rewind.read.entries[rewind.before],
				 rewind.read.count - rewind.before);
		if (rc)
			break;
		if (rewind.read.count >= READ_ENTRIES)
			hand_over(play, &rewind);
	}
	hand_over(play, &rewind);
	crit_rewind_fini(&rewind);
	return rc;
}

/* The window's begin: waits that are still open begin there, or before. */
static int end_play(struct play *play)
{
	int rc = 0;

	play->nodes.now_ns = play->nodes.costs->window_ns;
	for (uint32_t at = 0; at < play->nodes.count && !rc; at++) {
		crit_wait_nodes_book(&play->nodes, at);
		if (play->nodes.rows[at].wait.type)
			rc = crit_wait_nodes_close(&play->nodes, at);
	}
	if (!rc)
		crit_wait_nodes_finish(&play->nodes);
	return rc;
}

static int begin_play(struct play *play)
{
	const struct crit_backplay_options *options = play->options;
	int rc = crit_costs_init(play->nodes.costs, options->bucket_count, options->thread_count,
				 options->edges_max);

	if (options->end_ns < options->begin_ns || options->last_thread >= options->thread_count)
		return rc ? rc : -EINVAL;
	play->nodes.costs->window_ns = options->end_ns - options->begin_ns;
	play->nodes.costs->has_vertices = options->bucket_vertices != NULL;
	return rc ? rc : crit_wait_nodes_init(&play->nodes, options->thread_count);
}

int crit_backplay(struct crit_film *film, const struct crit_backplay_options *options,
		  struct crit_costs *ret_costs, struct crit_err *err)
{
	struct play play = { .options = options,
			     .nodes = { .costs = ret_costs,
					.bucket_parts = options->bucket_parts,
					.bucket_vertices = options->bucket_vertices,
					.path = options->last_thread },
			     .path_thread = options->last_thread };
	int rc = begin_play(&play);

	if (!rc)
		rc = take_film(&play, film);
	if (!rc)
		rc = end_play(&play);
	if (!rc)
		crit_late_acts_finish(&ret_costs->acts, ret_costs->window_ns);
	crit_wait_nodes_fini(&play.nodes);
	if (!rc)
		return 0;
	crit_costs_fini(ret_costs);
	return crit_err_set(err, rc, "cannot play the film of the waits: %s", strerror(-rc));
}
