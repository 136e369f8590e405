/* SPDX-License-Identifier: BSD-3-Clause */
/* Scheduler events by perf events, without privileges: no wakeups, no tags. */
#ifndef CRIT_COLLECTOR_SCHED_PERF_H
#define CRIT_COLLECTOR_SCHED_PERF_H

#include "collector/source/source.h"

extern const struct crit_source_ops crit_sched_perf;

#endif
