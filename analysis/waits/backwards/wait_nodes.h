/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The nodes of a film that is played backwards: threads and objects, who waits for whom at this
 * instant, and what each did so far.
 *
 * A node does one thing at a time: it is a root, and its time is booked to its bucket with the load
 * of all who wait for it, or it is linked to another one.  An object that is held does what its
 * holder does.
 */
#ifndef CRIT_WAIT_NODES_H
#define CRIT_WAIT_NODES_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/waits/backwards/costs.h"
#include "analysis/waits/backwards/forest.h"
#include "analysis/waits/film/film.h"
#include "core/base/array.h"
#include "core/base/index.h"

struct crit_link_books { /* where the books of a link begin */
	uint64_t ns;
	uint64_t part_ns[CRIT_PART_COUNT]; /* of what it is linked to */
};

struct crit_node_wait { /* the wait of a node that is open; type NONE: none is */
	uint32_t number; /* in the film, of type END */
	uint32_t act; /* row of what it waits for; CRIT_NONE: it is no thread's */
	uint8_t type; /* of the entry that opened it: END, or WOKEN */
	uint8_t kind;
	bool is_cut; /* out of a cycle */
};

/*
 * To book a linked node takes its first line, to book a root the second one as well; the third one
 * is of links, and the fourth one of those who wait for it.
 */
struct crit_wait_node {
	uint32_t bucket;
	uint32_t booked_bucket; /* of the time that was booked last */
	uint32_t to; /* row that it is linked to; CRIT_NONE: a root */
	int32_t direct; /* threads that wait for it with only objects between, and itself */
	struct crit_node_wait wait;
	bool is_object;
	bool is_over; /* an object before its begin */
	bool is_queued; /* it has no CPU */
	bool is_asleep; /* it is blocked */
	uint64_t since_ns; /* until where all is booked */
	uint64_t part_ns[CRIT_PART_COUNT]; /* what it did, for an object without its holders */
	crit_integral booked_load; /* of a root until since_ns; of a linked node until its link */
	crit_integral direct_moments; /* of a root: changes of direct, times since since_ns */
	struct crit_link_books linked; /* from the link on */
	uint32_t name; /* in the film */
	uint32_t waiters; /* nodes linked to it */
	uint32_t act; /* row of its latest act that somebody waited for */
} CRIT_LINE_ALIGNED;

struct crit_node_links { /* of a node where there are vertices */
	uint32_t first; /* row that is linked to it */
	uint32_t next, before; /* of those that are linked to the same */
	struct crit_link_books same; /* its link, since either end is the vertex it is */
	crit_integral same_load; /* of who is linked, there */
	size_t edge; /* row that this was booked to last; SIZE_MAX: to none */
};

struct crit_wait_nodes { /* zeroed but for costs, parts and vertices: empty */
	struct crit_costs *costs; /* borrowed, like the parts and vertices */
	const uint8_t *bucket_parts; /* of each of the costs' buckets, enum crit_part */
	const uint32_t *bucket_vertices; /* likewise, as backplay.h has them; NULL: threads */
	struct crit_forest forest;
	struct crit_wait_node *rows; /* threads, then objects */
	size_t count, capacity;
	struct crit_node_links *links; /* of each row; without vertices NULL */
	size_t links_capacity;
	struct crit_index objects; /* name -> row */
	uint32_t *unused; /* rows of objects that are over */
	size_t unused_count, unused_capacity;
	uint64_t now_ns; /* from the window's end */
	uint32_t path; /* row where the critical path is */
};

static inline bool crit_wait_node_is_object(const struct crit_wait_node *node)
{
	return node->is_object;
}

static inline bool crit_wait_nodes_is_linked(const struct crit_wait_nodes *nodes, uint32_t at)
{
	return nodes->rows[at].to != CRIT_NONE;
}

/* Nodes for that many threads of the costs.  Errors: -ENOMEM. */
int crit_wait_nodes_init(struct crit_wait_nodes *nodes, size_t thread_count);
void crit_wait_nodes_fini(struct crit_wait_nodes *nodes);

/* As below, of an object.  Errors: -ENOMEM. */
int crit_wait_nodes_find_object(struct crit_wait_nodes *nodes, uint32_t name, uint32_t *ret_at);

/*
 * The row of a thread or an object, which is made where it was not met; rows move.
 * Errors: -ENOMEM; -EPROTO: a thread that is none.
 */
static inline int crit_wait_nodes_find(struct crit_wait_nodes *nodes, uint32_t name,
				       uint32_t *ret_at)
{
	if (name & CRIT_FILM_OBJECT)
		return crit_wait_nodes_find_object(nodes, name, ret_at);
	*ret_at = name;
	return name < nodes->costs->thread_count ? 0 : -EPROTO;
}

/* As below, where time passed. */
void crit_wait_nodes_book_since(struct crit_wait_nodes *nodes, uint32_t at, uint64_t passed_ns);

/* Books what a node did since it was booked last: before anything of it changes. */
static inline void crit_wait_nodes_book(struct crit_wait_nodes *nodes, uint32_t at)
{
	const uint64_t passed_ns = nodes->now_ns - nodes->rows[at].since_ns;

	if (passed_ns)
		crit_wait_nodes_book_since(nodes, at, passed_ns);
}

/* All is booked: what threads waited is in the costs. */
void crit_wait_nodes_finish(struct crit_wait_nodes *nodes);

/* A node is in a bucket from now on, backwards. */
void crit_wait_nodes_move(struct crit_wait_nodes *nodes, uint32_t at, uint32_t bucket);

/* The row of an object that is over is free, if nobody waits for it and it for nobody. */
int crit_wait_nodes_drop(struct crit_wait_nodes *nodes, uint32_t at);

/* A node's wait begins to be open, backwards from its end.  Range: none of it is. */
void crit_wait_nodes_open(struct crit_wait_nodes *nodes, uint32_t at,
			  const struct crit_node_wait *wait);

/*
 * Links an open wait to what it is for, if it is not linked.  Errors: -ENOMEM; -EPROTO: that is
 * over.
 */
int crit_wait_nodes_link(struct crit_wait_nodes *nodes, uint32_t at, uint32_t to);

/* The begin of an open wait, after which the node is what it was before.  Errors: -ENOMEM. */
int crit_wait_nodes_close(struct crit_wait_nodes *nodes, uint32_t at);

#endif
