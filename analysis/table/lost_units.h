/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks, or the threads of a run without ranks, between which a window's time is divided. */
#ifndef CRIT_LOST_UNITS_H
#define CRIT_LOST_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/schema/results.h"

#define CRIT_TEAM_RATIO 0.05 /* of the window: who waits so long in a team is a peer there */

struct crit_lost_unit { /* a rank, or a thread; times in ns of the window */
	size_t row;
	uint32_t node;
	double threads; /* busy ones, each for the part of the window it lives */
	const struct crit_thread_row *teller; /* tells what it does while it is not active */
	double teller_active, teller_mpi; /* how long that is active, and in MPI */
	double work; /* useful CPU time of its threads */
	double in_region; /* one of its threads is blocked in a parallel region, nobody active */
	uint32_t in_region_row; /* which one */
	double team; /* of a thread: waits in OpenMP for others of its team */
	double awaiting; /* waits for other threads to end, which is no time of the unit */
	double alone; /* no other unit is there */
	double serial; /* of work: of a unit that waits so, while it is alone */
	double active; /* with at least one active thread; of it by what these do: */
	double useful;
	double runnable;
	double library;
	double blocked[2]; /* while nobody is active, while somebody is */
	double unknown[2];
};

struct crit_lost_units {
	struct crit_lost_unit *rows; /* not left out */
	size_t count;
	double capacity; /* P: unit_presence.h */
	double blocked[2], unknown[2]; /* sums */
	double active, useful, runnable, library;
	double peers; /* P, without those that do something else; of the others: */
	double most_work, mean_work;
};

/*
 * All but those that do next to nothing.  Ownership: free() frees the rows.  Errors: -ENOMEM.
 * Cost: O(ranks + threads).
 */
int crit_lost_units_find(const struct crit_results *results, struct crit_lost_units *ret_units);

/*
 * Of each rank, or thread in a run without, whether it is one of these.
 * Ownership: free() frees.  Errors: NULL, out of memory.
 */
bool *crit_lost_units_mark(const struct crit_results *results);

/*
 * What a unit does while it is not active, told by that of its threads that is in MPI longest, or
 * else the most active one: blocked or unknown outside MPI and OpenMP, both split by whether others
 * were active.  Of a rank with several threads that is at most the time in which it is not active.
 * active_ns, silent_ns: of the run.
 */
void crit_lost_unit_split_idle(struct crit_lost_unit *unit, uint64_t active_ns, uint64_t silent_ns);

static inline double crit_smaller(double a, double b)
{
	return a < b ? a : b;
}

static inline double crit_at_least_0(double a)
{
	return a > 0 ? a : 0;
}

#endif
