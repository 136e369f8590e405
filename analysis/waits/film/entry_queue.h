/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Entries of a film that wait for their time, which comes backwards: the latest are taken first.
 *
 * Source: Ahuja, Mehlhorn, Orlin and Tarjan, Faster algorithms for the shortest path problem, 1990
 * (radix heaps of more than one bit).  No entry is later than what was taken last, so an entry lies
 * in the heap of the highest digit in which its time differs from that, and of what it has there.
 * The lowest digit with entries has the latest; when they are taken, others of their heap go to
 * lower digits, at most once for each, mostly once or twice.  Those of one time stay in the order
 * in which they came.
 */
#ifndef CRIT_ENTRY_QUEUE_H
#define CRIT_ENTRY_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/waits/film/film.h"

#define CRIT_ENTRY_DIGIT_BITS 6
#define CRIT_ENTRY_DIGITS (64 / CRIT_ENTRY_DIGIT_BITS + 1)
#define CRIT_ENTRY_HEAPS (1u << CRIT_ENTRY_DIGIT_BITS)

struct crit_entry_list { /* zeroed: empty; its owner frees the entries */
	struct crit_film_entry *entries;
	size_t count, capacity;
};

struct crit_kept_entry {
	struct crit_film_entry entry;
	uint32_t next; /* of its heap, or of those not in use, from 1 on; 0: none */
};

struct crit_entry_heap { /* by their numbers in the queue, from 1 on */
	uint32_t first, last;
	uint64_t latest_ns; /* of them */
};

struct crit_entry_queue { /* zeroed: empty */
	struct crit_entry_heap heaps[CRIT_ENTRY_DIGITS][CRIT_ENTRY_HEAPS];
	uint64_t used[CRIT_ENTRY_DIGITS]; /* bit i: heap i of the digit is not empty */
	uint32_t used_digits; /* bit i: a heap of digit i is not */
	uint64_t latest_ns; /* of all; 0: there are none */
	uint32_t unused; /* the first kept entry that is not in use */
	struct crit_kept_entry *kept;
	size_t count, capacity; /* of these */
	struct crit_entry_list spare; /* to sort */
	struct crit_entry_heap *recent; /* to which one was put last, NULL: it is not known */
	uint64_t recent_ns; /* of that one */
	uint64_t before_ns; /* the end of all time, from when these were on */
};

void crit_entry_queue_fini(struct crit_entry_queue *queue);

/* Errors: -ENOMEM; -EPROTO: not before what was taken last. */
int crit_entry_queue_put(struct crit_entry_queue *queue, const struct crit_film_entry *entry);

static inline bool crit_entry_queue_is_empty(const struct crit_entry_queue *queue)
{
	return !queue->used_digits;
}

/* The time of the latest; 0 where there are none. */
static inline uint64_t crit_entry_queue_latest_ns(const struct crit_entry_queue *queue)
{
	return queue->latest_ns;
}

/*
 * Takes all of the latest time and appends them to a list, by node.
 * Range: of a queue that is not empty.  Errors: -ENOMEM.
 */
int crit_entry_queue_take(struct crit_entry_queue *queue, struct crit_entry_list *list);

#endif
