/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A run whose threads find a CPU sooner: of the time in which a thread has work and no CPU, all is
 * left out, or the part in which others than the run's threads had that CPU, or the part in which
 * its own had it.
 *
 * That part is known of all time together in which a thread had work and no CPU (preemptors), and
 * is taken of each; of a thread that queued in waits alone it is that of its node.
 */
#ifndef CRIT_FIX_QUEUES_H
#define CRIT_FIX_QUEUES_H

#include "analysis/waits/forecast.h"
#include "report/fixes/fix_table.h"

#define CRIT_FIX_QUEUES_ONE 1000000u /* denominator of the factors */

/*
 * kind: NO_QUEUEING, NO_OVERSUBSCRIPTION or NO_PREEMPTION.  Takes from the factor of each thread
 * what is left out then; *ret_ns: how long threads that had work were without a CPU for it.
 * Errors: -ENOMEM.
 */
int crit_fix_queues_leave_out(const struct crit_results *results, enum crit_fix_kind kind,
			      struct crit_factor *factors, uint64_t *ret_ns);

#endif
