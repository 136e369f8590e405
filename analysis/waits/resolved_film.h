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

#include "analysis/waits/film.h"

struct crit_resolved_film_options {
	struct crit_film_options file;
	uint64_t begin_ns; /* of the window */
	size_t thread_count;
	size_t bucket_count;
};

/*
 * Turns round a finished film, which is read to its begin.  ret_bucket_ns: of each bucket, how long
 * threads were in it, waits included.
 * Ownership: the new film is the caller's to destroy.
 * Errors: -ENOMEM, -EPROTO, those of both films; err says which.
 */
int crit_resolved_film_create(struct crit_film *film,
			      const struct crit_resolved_film_options *options,
			      uint64_t *ret_bucket_ns, struct crit_film **ret_film,
			      struct crit_err *err);

#endif
