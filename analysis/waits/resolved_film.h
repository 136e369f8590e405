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

struct crit_filmed_run { /* for forecasts */
	struct crit_film *film; /* to be rewound before each */
	uint64_t *bucket_ns; /* how long in each: with a CPU, in a wait, or asleep with no waker */
	struct crit_forecast_options options; /* without scenarios */
	uint64_t free_waits[CRIT_FREE_COUNT]; /* the caller's to fill */
};

/*
 * Turns round a finished film, which is read to its begin.
 * Ownership: fini by the caller, also after an error; of the options it keeps `outside`.
 * Errors: -ENOMEM, -EPROTO, those of both films; err says which.
 */
int crit_filmed_run_make(struct crit_film *film, const struct crit_resolved_film_options *options,
			 struct crit_filmed_run *ret_run, struct crit_err *err);
void crit_filmed_run_fini(struct crit_filmed_run *run);

#endif
