/* SPDX-License-Identifier: BSD-3-Clause */
/* A filming as its parts see it: those that take spans, and those that take edges. */
#ifndef CRIT_FILMING_STATE_H
#define CRIT_FILMING_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/waits/code_keys.h"
#include "analysis/waits/filmed_regions.h"
#include "analysis/waits/filmed_samples.h"
#include "analysis/waits/filmed_thread.h"
#include "analysis/waits/filming.h"
#include "analysis/waits/locks/lock_holders.h"
#include "analysis/waits/resolved_film.h"

#define CRIT_FILM_KIND_CALL 1 /* of a wait */
/*
 * The objects that those wait for of whom no waker was told: one for each system call, by its
 * number plus 1; 0: it is not known.
 */
#define CRIT_FILM_NOBODY 0xbffffc00u
#define CRIT_FILM_SYSTEM_CALLS 1024u

#define CRIT_SEND_SIZES 64u /* of more that waited, the smallest are kept */

/*
 * From which message size on sends wait for their receivers, as far as some were seen to.
 *
 * MPI libraries send small messages at once and large ones when the receiver is there; where they
 * change is not recorded.  It is above each size that was sent without the receiver.  Of the sizes
 * at which sends waited the others may have done so by chance, as a receiver came during a send
 * that took a while; the smallest of the rest is the answer.
 */
struct crit_send_sizes { /* zeroed: nothing was seen */
	uint64_t waited[CRIT_SEND_SIZES]; /* bytes, ascending, all above those sent at once */
	size_t count;
	uint64_t at_once; /* bytes, 1 more than the largest that was sent without its receiver */
};

struct crit_filming {
	struct crit_filming_options options;
	struct crit_film *film;
	const struct crit_wait_listener *waits; /* NULL: nobody is told of them */
	struct crit_filmed_thread *threads;
	struct crit_filmed_regions regions;
	struct crit_lock_holders locks;
	struct crit_code_keys keys;
	struct crit_filmed_samples samples;
	uint32_t nobody_buckets[CRIT_FILM_SYSTEM_CALLS]; /* 0: nobody waited in it */
	struct crit_send_sizes sizes[CRIT_FILM_GROUPS]; /* within nodes, and between them */
	size_t thread_count;
	uint64_t begin_ns, end_ns;
	struct crit_filming_counts counts;
	struct crit_actless_waits actless;
	uint32_t number;
	bool has_ranks;
	int failed; /* the film did: the analysis goes on without */
	struct crit_err err; /* why */
	struct crit_filmed_run run; /* the film, played and turned round; no film: there is none */
	int run_failed; /* why, if it is to be */
	struct crit_err run_err;
};

/* Each answers 0, also where the film failed, or -ENOMEM. */

static inline int crit_filming_put_entry(struct crit_filming *filming,
					 const struct crit_film_entry *entry)
{
	int rc = crit_film_put(filming->film, entry, &filming->err);

	if (rc)
		filming->failed = rc;
	return 0;
}

static inline int crit_filming_put(struct crit_filming *filming, enum crit_film_type type,
				   uint64_t time_ns, uint32_t node, uint32_t number)
{
	const struct crit_film_entry entry = { .time_ns = time_ns,
					       .node = node,
					       .number = number,
					       .type = (uint8_t)type,
					       .kind = CRIT_FILM_KIND_CALL };

	return crit_filming_put_entry(filming, &entry);
}

/* What ended the wait of that number, of a thread or an object. */
static inline int crit_filming_put_cause(struct crit_filming *filming, uint64_t time_ns,
					 uint32_t node, uint32_t waiter, uint32_t number)
{
	const struct crit_film_entry entry = { .time_ns = time_ns,
					       .node = node,
					       .number = number,
					       .more = waiter,
					       .type = CRIT_FILM_CAUSE,
					       .kind = CRIT_FILM_KIND_CALL };

	return crit_filming_put_entry(filming, &entry);
}

/* What a wait needs, but came before it. */
int crit_filming_put_need(struct crit_filming *filming, uint64_t time_ns, uint32_t node,
			  uint32_t number);

/* Counts a wait, once. */
void crit_filming_count_free(struct crit_filming *filming, struct crit_known_wait *wait,
			     enum crit_free_order why);

/* What is known of threads that no more entries will be of. */
void crit_filming_forget_threads(struct crit_filming *filming);

/* Ends the film.  Errors: those of the film. */
int crit_filming_put_ends(struct crit_filming *filming);

/* When the thread acted that did so at a time: one that waits has acted before. */
uint64_t crit_filming_act_of(struct crit_filming *filming, uint32_t cause, uint64_t time_ns);

/* A send of that size lasted until its receiver came. */
void crit_send_sizes_wait(struct crit_send_sizes *sizes, uint64_t bytes);

/* One was over before its receiver came.  Range: bytes below UINT64_MAX. */
void crit_send_sizes_pass(struct crit_send_sizes *sizes, uint64_t bytes);

/* UINT64_MAX: none is known to wait. */
uint64_t crit_send_sizes_smallest(const struct crit_send_sizes *sizes);

#endif
