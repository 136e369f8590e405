/* SPDX-License-Identifier: BSD-3-Clause */
/* Routes the kernel's records to the runs they belong to. */
#ifndef CRIT_COLLECTOR_DRAIN_H
#define CRIT_COLLECTOR_DRAIN_H

#include "collector/loop/server.h"

/* Empties the kernel's ring, or those of the runs.  Cost: a copy per record. */
void crit_drain_kernel(struct crit_server *server);

/* Adds one record to the run's kernel stream. */
void crit_drain_put(struct crit_run *run, const struct crit_kernel_head *record);

/* Moves the kernel's count of lost records into the run's stream. */
void crit_drain_count_lost(const struct crit_server *server, struct crit_run *run);

#endif
