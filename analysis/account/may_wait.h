/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CMetric of the ranks by a second rule, that mpi_may_wait (MPI_Send) is active, beside the run's.
 *
 * The verdict compares both.  By this rule only the sum per rank is wanted, so a rank needs no
 * second level: it earns the integral of dt/n while any of its threads is active.
 */
#ifndef CRIT_MAY_WAIT_H
#define CRIT_MAY_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/schema/results.h"

struct crit_may_wait { /* of the run */
	uint32_t active; /* n: ranks */
	crit_fix cmetric; /* integral of dt/n while n >= 1 */
};

struct crit_may_wait_rank {
	uint32_t active; /* its threads */
	crit_fix mark; /* the run's integral when the first of them came */
	crit_fix cmetric; /* earned, up to there */
};

/* Counts a thread in, step 1, or out, step -1, once the run's integral is that of its time. */
static inline void crit_may_wait_count(struct crit_may_wait *run, struct crit_may_wait_rank *rank,
				       int step)
{
	bool was_active = rank->active != 0, is_active;

	rank->active += (uint32_t)step;
	is_active = rank->active != 0;
	run->active += (uint32_t)is_active - (uint32_t)was_active;
	if (is_active && !was_active)
		rank->mark = run->cmetric;
	else if (was_active && !is_active)
		rank->cmetric += run->cmetric - rank->mark;
}

#endif
