/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Plays a film of waits backwards, which tells what each wait at the end of a chain cost.
 *
 * Backwards, a wait begins at its end e.  From there to its cause's act at c the waiter is a root
 * of its own: data are on their way.  At c it is linked to the cause, at s it is cut.  So at each
 * instant the links are a forest, and the load of a root is how many wait for it, directly or not.
 *
 * What happens at one time: cuts first, then changes of buckets, then ends, then links.  A cycle
 * comes of wrong wakers only: the link of its largest node is cut, and the rest of that wait is
 * unknown.
 *
 * The critical path begins at the last thread.  Where that is linked it goes on in the root; from
 * an object, which has no past, it comes back to the waiter at the begin of the wait.
 *
 * Of several causes of a wait that with the latest act counts, of these that with the lowest node.
 * A wait without a cause is transfer as a whole; one whose cause is not known waits for an object.
 * A sleep outside of waits is one from its begin to the act of the waker, if that is told.
 *
 * Cost: amortised O(log nodes) per entry, times the heights of towers of objects that hold objects;
 * with vertices in addition O(nodes that wait for a thread) as often as its vertex changes.
 * Memory: threads, objects at a time, buckets, edges.
 */
#ifndef CRIT_BACKPLAY_H
#define CRIT_BACKPLAY_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/waits/backwards/costs.h"
#include "analysis/waits/film/film.h"
#include "core/base/err.h"

/* Who is told of all entries as well, latest first, once they were played (rewind.h). */
struct crit_backplay_reader {
	void *user;
	void (*take)(void *user, const struct crit_film_entry *entries, size_t count);
};

struct crit_backplay_options {
	uint64_t begin_ns, end_ns; /* the window: of all times in the film */
	size_t thread_count;
	size_t bucket_count;
	const uint8_t *bucket_parts; /* of each, enum crit_part: what a node does in it */
	/* of each, the first that is the same vertex of edges; NULL: vertices are threads */
	const uint32_t *bucket_vertices;
	size_t edges_max; /* rows of pairs */
	uint32_t last_thread; /* where the critical path ends */
	struct crit_backplay_reader reader; /* take NULL: nobody */
};

/*
 * Plays a finished film.  Ownership: the costs are the caller's to fini.
 * Errors: -ENOMEM; -EPROTO: the film contradicts itself; those of reading it.
 */
int crit_backplay(struct crit_film *film, const struct crit_backplay_options *options,
		  struct crit_costs *ret_costs, struct crit_err *err);

#endif
