/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Entries of a film that wait for their time, which comes backwards: the latest are taken first.
 *
 * Source: Ahuja, Mehlhorn, Orlin and Tarjan, Faster algorithms for the shortest path problem, 1990
 * (radix heaps).  No entry is later than what was taken last, so an entry lies in the heap of the
 * highest bit in which its time differs from that.  The lowest heap that is not empty has the
 * latest entries; when they are taken, the rest of it goes to lower heaps.  Each entry goes down
 * at most 64 times, mostly a few.  Those of one time stay in the order in which they came.
 */
#ifndef CRIT_ENTRY_QUEUE_H
#define CRIT_ENTRY_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/waits/film/film.h"

#define CRIT_ENTRY_HEAPS 64

struct crit_entry_heap {
	struct crit_film_entry *entries;
	size_t count, capacity;
	uint64_t latest_ns; /* of them */
};

struct crit_entry_queue { /* zeroed: empty */
	struct crit_entry_heap heaps[CRIT_ENTRY_HEAPS]; /* by the highest bit that differs */
	struct crit_entry_heap taken; /* last */
	struct crit_entry_heap spare; /* to sort these */
	uint64_t used; /* bit i: heap i is not empty */
	uint64_t before_ns; /* the end of all time, from when these were on */
};

void crit_entry_queue_fini(struct crit_entry_queue *queue);

/* Errors: -ENOMEM; -EPROTO: not before what was taken last. */
int crit_entry_queue_put(struct crit_entry_queue *queue, const struct crit_film_entry *entry);

static inline bool crit_entry_queue_is_empty(const struct crit_entry_queue *queue)
{
	return !queue->used;
}

/* The time of the latest.  Range: of a queue that is not empty. */
static inline uint64_t crit_entry_queue_latest_ns(const struct crit_entry_queue *queue)
{
	return queue->heaps[__builtin_ctzll(queue->used)].latest_ns;
}

/*
 * Takes all of the latest time, by node.  Yields them, valid until the next call; their number in
 * *ret_count.  Range: of a queue that is not empty.  Errors: NULL, out of memory.
 */
const struct crit_film_entry *crit_entry_queue_take(struct crit_entry_queue *queue,
						    size_t *ret_count);

#endif
