/* SPDX-License-Identifier: BSD-3-Clause */
/* Scheduler events by BPF programs: wakeups, switches with their tags, births and ends. */
#ifndef CRIT_COLLECTOR_SCHED_BPF_H
#define CRIT_COLLECTOR_SCHED_BPF_H

#include "collector/source/source.h"

extern const struct crit_source_ops crit_sched_bpf;

#endif
