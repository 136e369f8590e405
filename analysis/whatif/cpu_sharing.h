/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When a run would have ended on other CPUs.
 *
 * The steps of its threads are played by an event simulation in which the threads of each node
 * share its C CPUs equally, wherever they were bound: n threads that work and waiters with the
 * loads l_1 ... l_m (thread_steps.h) leave each that works
 *
 *     min(1, C / (n + l_1 + ... + l_m))
 *
 * of a CPU.  Waits end with the last act they need and their transfer, as in forecast.h, so the
 * order of messages, locks and tasks is the recorded one.  What threads of other programs take is
 * left out.
 *
 * Source: egalitarian processor sharing (Kleinrock, Queueing Systems II, 1976, chapter 4).
 */
#ifndef CRIT_CPU_SHARING_H
#define CRIT_CPU_SHARING_H

#include "analysis/waits/forecast.h"
#include "analysis/whatif/thread_steps.h"

struct crit_cpu_sharing_options {
	const double *node_cpus; /* of each node, above 0; borrowed */
	struct crit_scenario scenario;
	bool do_waiters_block; /* they take no CPU from others */
};

/*
 * ret_end_ns: from the window's begin to the end of the last thread; ret_circles: waits of the
 * recording that need one another, which end as soon as nothing else is left.
 * Errors: -ENOMEM.  Cost: O(log n) a step.
 */
int crit_cpu_sharing_play(const struct crit_run_steps *steps,
			  const struct crit_cpu_sharing_options *options, uint64_t *ret_end_ns,
			  uint64_t *ret_circles);

#endif
