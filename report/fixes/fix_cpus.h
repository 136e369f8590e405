/* SPDX-License-Identifier: BSD-3-Clause */
/* Plays a change in which the threads of each node share other CPUs, or waits take none of them. */
#ifndef CRIT_FIX_CPUS_H
#define CRIT_FIX_CPUS_H

#include "report/fixes/fix_table.h"

/*
 * One scenario, of a run that was filmed with states; the result as of a forecast with it alone.
 * Ownership: crit_forecast_fini by the caller.
 * Errors: those of crit_run_steps_make and crit_cpu_sharing_play; -ENODATA: nobody knows how many
 * CPUs a node had.  Each with a line.
 */
int crit_fix_cpus_play(const struct crit_fix_input *input, const struct crit_fix_wishes *wishes,
		       const struct crit_scenario *scenario, struct crit_forecast *ret_forecast,
		       struct crit_err *err);

#endif
