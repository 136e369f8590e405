/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lost time: what part of the window of ranks is no useful work, by cause, and the potential gain.
 *
 * Units are the ranks, or the app threads of a run without ranks.  Ranks below 1 % of the most
 * active one are left out, and threads below 5 %: a main thread that waits for its workers.  One
 * that does more is not there while it waits for others to end (unit_presence.h).  All
 * times are per unit: sums over the units, divided by their number P, so that with E the window
 *
 *     E = useful + sum of the losses.
 *
 * docs/metric.md, "Lost time", has the formulas.
 */
#ifndef CRIT_LOST_TIME_H
#define CRIT_LOST_TIME_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/schema/results.h"
#include "analysis/table/standstill.h"
#include "analysis/table/thread_standstill.h"

enum crit_loss {
	CRIT_LOSS_CPUS = 0, /* CPUs were short: runnable, or waiting for one that was */
	CRIT_LOSS_IMBALANCE, /* waiting while others were active */
	CRIT_LOSS_ALL_WAITING, /* waiting while nobody was active */
	CRIT_LOSS_BLOCKED, /* blocked outside MPI and OpenMP: I/O, locks, sleep */
	CRIT_LOSS_LIBRARY, /* running in MPI calls that do not wait */
	CRIT_LOSS_UNKNOWN, /* the recording does not tell */
	CRIT_LOSS_COUNT
};

#define CRIT_NAMED_MAX 3

struct crit_named_unit { /* one whose work stands out */
	size_t row; /* of ranks, or of threads in a run without ranks */
	double work_ratio; /* its useful CPU time over the mean */
};

struct crit_lost_time {
	bool is_valid; /* false: no unit was active; all else is 0 */
	enum crit_unit unit;
	size_t unit_count; /* not left out */
	double units; /* P: the most of them at one time */
	double peers; /* of P, those whose work is compared */
	bool has_helpers; /* some are none, that do next to nothing, and something else */
	double window_s; /* E */
	double useful_s;
	double loss_s[CRIT_LOSS_COUNT];
	double waiting_s; /* no active thread while others have one; ranks: nor blocked */
	size_t blocked_row; /* who is blocked longest while nobody is active, threads in a region */
	uint32_t blocked_thread; /* row of who is in a region for that; CRIT_NONE: outside MPI */
	double blocked_alone_s; /* for so long; 0: several are */
	double blocked_s; /* so much of its time altogether */
	size_t gone_row; /* of ranks: the first of a world that ended without MPI_Finalize */
	double gone_s; /* so long before the last one of its world; 0: none did */
	struct crit_standstill still; /* of ranks */
	struct crit_thread_standstill threads_still; /* of a run without ranks */
	double gain_s; /* potential gain: balance cannot end the run sooner than by this */
	size_t most_row; /* the unit with most work */
	size_t serial_row; /* of threads: the one with most work done alone, by lost_units.h */
	double serial_s; /* so much of it; 0: nobody waits for others to end */
	double floor_s; /* what the work of all nodes takes on all their CPUs */
	double runnable_s; /* of the loss of CPUs: runnable outside waits */
	double work_balance_ratio; /* mean over maximum of the units' useful CPU time */
	bool is_work_known; /* else useful time is time on the clock, CPUs or not */
	bool is_uneven; /* the most has enough beyond the mean to be worth a word */
	bool is_by_turns; /* hardly ever two units are active at once, that could have been */
	double unknown_ratio; /* of the app threads' time in the window */
	bool lacks_cpus; /* CPUs for all, and yet not to be had */
	bool has_foreign_load; /* CPUs were not to be had, as others used them */
	bool is_short; /* else threads without ranks hardly wanted CPUs that the run's own had */
	double foreign_s; /* for so much of runnable_s times units, as far as that is known */
	double taken_s; /* that, and where nobody knows who had them */
	double tools_s; /* of foreign_s, crit itself */
	double beside_s; /* and its own threads for so long; 0: not worth a word */
	double own_s; /* its own threads had CPUs that others wanted, or waited for in OpenMP */
	double threads_per_cpu; /* busy ones, on the node with most of them */
	uint32_t crowded_node; /* which that is */
	size_t crowded_units; /* units there */
	size_t crowded_threads; /* busy threads there */
	struct crit_named_unit named[CRIT_NAMED_MAX]; /* by work, descending */
	size_t named_count; /* also beyond CRIT_NAMED_MAX */
};

/* CPUs the run may use on a node: as told in the recording, else those online. Units: CPUs. */
double crit_lost_time_cpus(const struct crit_node_row *node);

/*
 * A function of the results and of what threads do.  kinds: of each thread, equal numbers for the
 * same, 0 not known; NULL: of none.  Those that do less than a fifth of the most work are compared
 * with the others only where they do the same.  Errors: -ENOMEM.
 * Cost: O(nodes + ranks + threads log threads).
 */
int crit_lost_time_of(const struct crit_results *results, const uint32_t *kinds,
		      struct crit_lost_time *ret_lost);

#endif
