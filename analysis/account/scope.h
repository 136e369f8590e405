/* SPDX-License-Identifier: BSD-3-Clause */
/* The integrals of one scope: run or node. */
#ifndef CRIT_SCOPE_H
#define CRIT_SCOPE_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/account/may_wait.h"

enum crit_share { /* how time is attributed to a thread */
	CRIT_SHARE_OUT = 0, /* not at all: not app, not alive, outside its part */
	CRIT_SHARE_WAITING,
	CRIT_SHARE_ACTIVE,
	CRIT_SHARE_COUNT
};

struct crit_scope_state {
	uint64_t now_ns;
	uint32_t active[CRIT_UNIT_COUNT]; /* n */
	uint32_t active_before; /* unit threads: n in the time that ended at now_ns */
	uint32_t left_out_from; /* with so many active threads nothing is earned; 0: it always is */
	uint32_t live[CRIT_UNIT_COUNT]; /* w: active or waiting */
	crit_fix cmetric[CRIT_UNIT_COUNT]; /* integral of dt/n while n >= 1 */
	crit_fix all_waiting[CRIT_UNIT_COUNT]; /* integral of dt/w while n = 0 */
	crit_fix waited; /* integral of dt * (w - n) / n while n >= 1, unit threads */
	uint64_t active_ns; /* T(n >= 1) */
	uint64_t nobody_ns; /* n = 0 and w = 0 */
	struct crit_may_wait may_wait; /* scope of the run only */
	/* below: scopes of one node only */
	uint32_t cpus; /* that the run may use, at least 1 */
	uint32_t runnable[CRIT_SHARE_COUNT]; /* threads that wait for a CPU, by their share */
	struct crit_cpu_shortage shortage;
};

struct crit_rank_state { /* of one rank in one scope */
	uint32_t active;
	uint32_t live;
	uint64_t active_since_ns; /* while active is not 0 */
	uint64_t active_ns; /* time with at least one active thread, up to there */
	crit_fix cmetric_mark; /* the scope's integrals when last looked at */
	crit_fix all_waiting_mark;
	crit_fix cmetric_each; /* the integral of dt/n so far */
	crit_fix all_waiting_each; /* what one live thread has */
	struct crit_may_wait_rank may_wait; /* scope of the run only */
};

struct crit_rank_idle { /* workers that idle while the main thread is in MPI */
	uint32_t idle;
	bool is_main_in_mpi; /* outside parallel regions */
	uint64_t since_ns;
	uint64_t ns;
};

static inline void crit_scope_add_shortage(struct crit_scope_state *scope, uint64_t dt_ns)
{
	struct crit_cpu_shortage *shortage = &scope->shortage;
	uint32_t active = scope->active[CRIT_UNIT_THREADS];

	if (scope->runnable[CRIT_SHARE_ACTIVE] || active >= scope->cpus) {
		shortage->full_ns += dt_ns;
		for (int unit = 0; unit < CRIT_UNIT_COUNT; unit++)
			shortage->full_unit_ns[unit] += dt_ns * scope->active[unit];
	} else if (scope->runnable[CRIT_SHARE_WAITING] && !active) {
		shortage->waiting_ns += dt_ns;
	}
}

/*
 * Brings a scope's integrals up to time_ns, or the window's end; time that is past changes nothing.
 * reciprocals: of 1 up to the largest count.  Cost: one multiplication per integral.
 */
static inline void crit_scope_advance(struct crit_scope_state *scope, const crit_fix *reciprocals,
				      uint64_t window_end_ns, uint64_t time_ns)
{
	uint32_t active = scope->active[CRIT_UNIT_THREADS];
	uint32_t live = scope->live[CRIT_UNIT_THREADS];
	uint64_t dt_ns;

	if (time_ns > window_end_ns)
		time_ns = window_end_ns;
	if (time_ns <= scope->now_ns)
		return;
	dt_ns = time_ns - scope->now_ns;
	scope->now_ns = time_ns;
	scope->active_before = active;
	crit_scope_add_shortage(scope, dt_ns);
	if (scope->may_wait.active)
		scope->may_wait.cmetric += dt_ns * reciprocals[scope->may_wait.active];
	if (scope->left_out_from && active >= scope->left_out_from)
		return;
	if (active) {
		crit_fix part = dt_ns * reciprocals[active];

		scope->cmetric[CRIT_UNIT_THREADS] += part;
		scope->waited += part * (live - active);
		scope->active_ns += dt_ns;
		if (scope->active[CRIT_UNIT_RANKS])
			scope->cmetric[CRIT_UNIT_RANKS] +=
				dt_ns * reciprocals[scope->active[CRIT_UNIT_RANKS]];
	} else if (live) {
		scope->all_waiting[CRIT_UNIT_THREADS] += dt_ns * reciprocals[live];
		if (scope->live[CRIT_UNIT_RANKS])
			scope->all_waiting[CRIT_UNIT_RANKS] +=
				dt_ns * reciprocals[scope->live[CRIT_UNIT_RANKS]];
	} else {
		scope->nobody_ns += dt_ns;
	}
}

/* The number of a rank's active threads changes: does the rank still count as active? */
static inline void crit_rank_count_active(struct crit_scope_state *scope,
					  struct crit_rank_state *rank, uint32_t change)
{
	bool was_active = rank->active != 0, is_active;

	rank->active += change;
	is_active = rank->active != 0;
	scope->active[CRIT_UNIT_RANKS] += (uint32_t)is_active - (uint32_t)was_active;
	if (is_active && !was_active)
		rank->active_since_ns = scope->now_ns;
	else if (was_active && !is_active)
		rank->active_ns += scope->now_ns - rank->active_since_ns;
}

/* Counts a thread of a rank (NULL none) with this share in, step 1, or out, step -1. */
static inline void crit_scope_count_in(struct crit_scope_state *scope, struct crit_rank_state *rank,
				       enum crit_share share, int step)
{
	uint32_t change = (uint32_t)step;

	if (share == CRIT_SHARE_OUT)
		return;
	scope->live[CRIT_UNIT_THREADS] += change;
	if (rank) {
		scope->live[CRIT_UNIT_RANKS] -= rank->live != 0;
		rank->live += change;
		scope->live[CRIT_UNIT_RANKS] += rank->live != 0;
	}
	if (share != CRIT_SHARE_ACTIVE)
		return;
	scope->active[CRIT_UNIT_THREADS] += change;
	if (rank)
		crit_rank_count_active(scope, rank, change);
}

#endif
