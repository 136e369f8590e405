/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many CPUs a run could use on each node: the union of the affinity masks of its app threads,
 * but for those that do next to nothing, and no more than what the quotas of their cgroups allow
 * together.
 */
#ifndef CRIT_CPU_MASKS_H
#define CRIT_CPU_MASKS_H

#include "analysis/model/model.h"

/*
 * Sets usable_cpus of each node's row; the roles of threads are known.  Of a thread's masks the
 * last one counts, as threads are bound after their start; of a cgroup's quotas the largest.
 * Errors: -ENOMEM.  Cost: linear in the chunks and threads.
 */
int crit_cpu_masks_survey(struct crit_model *model);

#endif
