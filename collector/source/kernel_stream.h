/* SPDX-License-Identifier: BSD-3-Clause */
/* Puts kernel records into the kernel stream of a run's recording. */
#ifndef CRIT_COLLECTOR_KERNEL_STREAM_H
#define CRIT_COLLECTOR_KERNEL_STREAM_H

#include <stdint.h>
#include <stddef.h>

#include "collector/source/kernel_rings.h"
#include "collector/system/procfs.h"

struct crit_run;

/*
 * Adds a record of bytes, stamped time_ns.  Where there is no room for it, it counts as lost.
 * Range: now_ns says how old the gathered records are.
 */
void crit_kernel_stream_put(struct crit_run *run, const struct crit_kernel_head *record,
			    size_t bytes, uint64_t time_ns, uint64_t now_ns);

/*
 * Adds the front records of a CPU that are of its first one's run and stamped until until_ns, as
 * many as there is room for at once, and passes over them.  run: NULL where that is over: the first
 * one is left out.
 */
void crit_kernel_stream_copy(struct crit_run *run, struct crit_cpu_cursor *cursor,
			     uint64_t until_ns, uint64_t now_ns);

/* Adds ENROL of a thread, which sleeps or runs as /proc said. */
void crit_kernel_stream_put_enrol(struct crit_run *run, const struct crit_procfs_task *task,
				  uint64_t time_ns);

#endif
