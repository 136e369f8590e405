/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When a run would have ended if some of its code took another time.
 *
 * A resolved film (resolved_film.h) is played forwards, in several scenarios at once.  Of a thread
 * that does not wait a stretch of d ns in a bucket takes d times the bucket's factor, without a CPU
 * d times the thread's; an act within it comes after the same part of it.  A wait from s to e that
 * needs the acts c_1 ... c_m ends at
 *
 *     t'(e) = max(t'(s), t'(c_1), ..., t'(c_m)) + (e - max(s, c_1, ..., c_m)),
 *
 * the last term being its transfer, which keeps its length but for the last stretches without a CPU
 * in it.  So does the whole of a wait that needs no act of the run: for a timer, a device, or where
 * the partner is not known.  All acts count that the film has, not only the one that ended the
 * wait: another one may become the last.  Who sleeps from s on until it is woken at c goes on at
 * max(t'(s), t'(c)); a wakeup that found its thread awake is not known.
 *
 * Who takes a lock, a task or a message from any source next stays as it was recorded; where
 * another thread could have had a lock first, that is counted.  A thread
 * that needs an act inside another's wait takes the time from that wait's begin.
 *
 * Source: the max-plus form of a timed event graph (Baccelli et al., Synchronization and Linearity,
 * 1992, chapter 2); one maximum over all that is needed.
 *
 * Memory: threads and buckets times scenarios, acts that waits may need later, entries of one time.
 */
#ifndef CRIT_FORECAST_H
#define CRIT_FORECAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/waits/film/film.h"
#include "analysis/waits/forwards/scenario.h"

struct crit_forecast_options {
	uint64_t begin_ns; /* of the window */
	size_t thread_count;
	size_t bucket_count;
	uint32_t outside; /* bucket of a thread that is not there */
	const struct crit_scenario *scenarios; /* borrowed */
	size_t scenario_count; /* above 0 */
};

struct crit_forecast {
	uint64_t recorded_ns; /* from the window's begin to the end of the last thread */
	uint64_t *end_ns; /* the same in each scenario; free() frees */
	/* likewise: threads that could have got a lock before an earlier owner (lock_orders.h) */
	uint64_t *order_changes;
	uint64_t inside_count; /* acts inside another wait of who acts */
	uint64_t circle_count; /* entries of one time that need one another: taken as they stand */
};

/* Plays a resolved film.  Errors: -ENOMEM; -EPROTO: it contradicts itself; those of reading. */
int crit_forecast_play(struct crit_film *film, const struct crit_forecast_options *options,
		       struct crit_forecast *ret_forecast, struct crit_err *err);

void crit_forecast_fini(struct crit_forecast *forecast);

#endif
