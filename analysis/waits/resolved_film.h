/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A film the other way round: what happened at a time stands together, and the film is read from
 * the window's begin.  A forecast (forecast.h) plays it.
 *
 * A thread says FROM where a bucket begins, instead of UNTIL where it ends; causes, needs and
 * arrivals stand at their own time.
 */
#ifndef CRIT_RESOLVED_FILM_H
#define CRIT_RESOLVED_FILM_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/waits/film/film.h"
#include "analysis/waits/forecast.h"

struct crit_resolved_film_options {
	struct crit_film_options file;
	uint64_t begin_ns; /* of the window */
	size_t thread_count;
	size_t bucket_count;
};

/* Why a wait could have ended with another act, had that come before. */
enum crit_free_order {
	CRIT_FREE_LOCK = 0, /* which another thread had before */
	CRIT_FREE_SOURCE, /* a message of any source */
	CRIT_FREE_REQUEST, /* any of several requests */
	CRIT_FREE_TASK, /* a task of OpenMP interrupted it, or it was for tasks */
	CRIT_FREE_COUNT
};

struct crit_film_turning;

struct crit_filmed_run { /* for forecasts */
	struct crit_film *film; /* to be rewound before each */
	uint64_t *bucket_ns; /* how long in each: with a CPU, in a wait, or asleep with no waker */
	struct crit_forecast_options options; /* without scenarios */
	uint64_t free_waits[CRIT_FREE_COUNT]; /* the caller's to fill */
};

/*
 * Turns a film round while it is read to its begin (film/rewind.h, backwards/backplay.h).
 * Errors: -ENOMEM; those of crit_film_create.
 */
int crit_film_turning_create(const struct crit_resolved_film_options *options,
			     struct crit_film_turning **ret_turning, struct crit_err *err);

/* The next entries, latest times first, as rewind.h has them.  A fault ends it; the end tells. */
void crit_film_turning_take(struct crit_film_turning *turning,
			    const struct crit_film_entry *entries, size_t count);

/*
 * All entries were read; what was turned is gone.  Ownership: the run is the caller's to fini.
 * Errors: -ENOMEM, -EPROTO, those of the film that is written; err says which.
 */
int crit_film_turning_end(struct crit_film_turning *turning, struct crit_filmed_run *ret_run,
			  struct crit_err *err);
void crit_filmed_run_fini(struct crit_filmed_run *run);

#endif
