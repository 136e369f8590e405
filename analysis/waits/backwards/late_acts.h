/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Single acts that threads waited for: of each, how many waited, who did longest, and what that
 * cost all behind them.  The costliest are kept.
 *
 * All that wait for one act of a thread, as at a barrier for the last one to come, are one row.  A
 * wait that is over before its cause acts, or has none, is in none.
 */
#ifndef CRIT_LATE_ACTS_H
#define CRIT_LATE_ACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/waits/backwards/forest.h"

#define CRIT_LATE_ACTS_MAX 100

struct crit_late_act {
	uint32_t thread; /* who acted */
	uint32_t bucket; /* what it did before; CRIT_FILM_NO_BUCKET: not known */
	uint64_t time_ns; /* from the window's begin; until finish, from its end */
	uint32_t waiters; /* threads, and locks, that waited for it directly */
	uint32_t waiting; /* that still do */
	uint32_t longest; /* the one that waited longest, as edges have it, and where */
	uint32_t longest_bucket;
	uint64_t longest_ns; /* until the act */
	crit_integral impact; /* ns of all of them, and of all behind them */
};

struct crit_late_acts {
	struct crit_late_act *rows; /* what is waited for now, and unused ones */
	size_t count, capacity;
	uint32_t *unused;
	size_t unused_count, unused_capacity;
	struct crit_late_act *kept; /* by impact, descending, once finished */
	size_t kept_count;
	bool is_full; /* those after the CRIT_LATE_ACTS_MAX-th were left out once */
};

/* Errors: -ENOMEM. */
int crit_late_acts_init(struct crit_late_acts *acts);
void crit_late_acts_fini(struct crit_late_acts *acts);

/*
 * Somebody waits for what a thread did at a time, in backplay's time.  row: of the thread's latest
 * act, CRIT_NONE at first.  Errors: -ENOMEM.
 */
int crit_late_acts_link(struct crit_late_acts *acts, uint32_t *row, uint32_t thread,
			uint32_t bucket, uint64_t time_ns);

/* One that waits for a row's act, as edges have it, has waited so long, in a bucket. */
void crit_late_acts_unlink(struct crit_late_acts *acts, uint32_t row, uint32_t waiter,
			   uint32_t bucket, uint64_t waited_ns, crit_integral impact);

/* All waits are over: sorts those that are kept, and counts their times from the begin. */
void crit_late_acts_finish(struct crit_late_acts *acts, uint64_t window_ns);

#endif
