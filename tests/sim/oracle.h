/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The truth about a scenario, integrated straight from the definitions of docs/metric.md: cut time
 * at every change of anything, and share out each piece.  Slow and plain on purpose; shares no code
 * with analysis/.
 *
 * All sums are exact: integers that count 1/D ns, D = lcm(1..28) squared, so that dt/n,
 * dt/(n*m) and dt*w/n are whole numbers for up to 28 app threads.
 */
#ifndef CRIT_TESTS_ORACLE_H
#define CRIT_TESTS_ORACLE_H

#include "tests/sim/scenario.h"

__extension__ typedef __int128 crit_exact;

#define CRIT_ORACLE_APP_THREADS 28
#define CRIT_ORACLE_LCM 80313433200ll /* of 1..28 */

struct crit_truth_attribution {
	crit_exact cmetric[CRIT_SCOPE_COUNT][CRIT_UNIT_COUNT];
	crit_exact all_waiting[CRIT_SCOPE_COUNT][CRIT_UNIT_COUNT];
	crit_exact blame; /* unit threads, scope run */
	uint64_t waiting_ns;
};

struct crit_truth_row { /* a thread, a rank or a call */
	struct crit_cells cells;
	struct crit_truth_attribution attributed;
	uint64_t visits; /* calls only: spans that begin inside the rank's part */
};

struct crit_truth_law {
	crit_exact cmetric;
	crit_exact all_waiting;
	uint64_t nobody_ns;
	uint64_t active_ns;
};

struct crit_truth {
	uint64_t window_begin_ns;
	uint64_t window_ns;
	struct crit_truth_row threads[CRIT_SCENARIO_THREADS]; /* as in the scenario */
	struct crit_truth_row ranks[CRIT_SCENARIO_PROCESSES]; /* by process index of the rank */
	struct crit_truth_row calls[1024];
	struct crit_truth_law run[CRIT_UNIT_COUNT];
	struct crit_truth_law node[CRIT_SCENARIO_NODES][CRIT_UNIT_COUNT];
};

/*
 * Integrates a scenario.  Range: at most 28 app threads in all; lives below 2^40 ns.
 * Ownership: the caller frees *ret.  Cost: threads times events.
 */
struct crit_truth *crit_oracle_integrate(const struct crit_scenario *s, enum crit_active_rule rule);

/* Nanoseconds. */
double crit_exact_ns(crit_exact value);

#endif
