/* SPDX-License-Identifier: BSD-3-Clause */
/* A film turned round by itself; crit does it while it plays the film. */
#ifndef CRIT_TESTS_TURNED_H
#define CRIT_TESTS_TURNED_H

#include "analysis/waits/film/rewind.h"
#include "analysis/waits/resolved_film.h"

/* Of a finished film.  Ownership and errors: those of crit_film_turning_end. */
static inline int crit_test_turn_round(struct crit_film *film,
				       const struct crit_resolved_film_options *options,
				       struct crit_filmed_run *ret_run, struct crit_err *err)
{
	struct crit_film_turning *turning;
	struct crit_rewind rewind;
	int rc = crit_film_turning_create(options, &turning, err), ended;

	if (rc)
		return rc;
	crit_rewind_init(&rewind, film);
	while ((rc = crit_rewind_next(&rewind)) > 0) {
		crit_film_turning_take(turning, rewind.read.entries, rewind.read.count);
		crit_rewind_empty(&rewind);
	}
	crit_rewind_fini(&rewind);
	if (rc)
		(void)crit_err_set(err, rc, "cannot read the film");
	ended = crit_film_turning_end(turning, ret_run, err);
	return rc ? rc : ended;
}

#endif
