/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the memory maps of processes in runs, and again when they changed.
 *
 * Which processes there are, and when they become other programs, the kernel records tell.  A
 * program's maps are read at the next tick, those of a process that forked a little later: mostly
 * it execs.  They are read again at growing distances, soon again after a change.  Threads beside
 * the main loop read, for /proc may make them wait; what that costs is bounded by the meter.
 */
#ifndef CRIT_COLLECTOR_MEMORY_MAPS_H
#define CRIT_COLLECTOR_MEMORY_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/abi/abi_kernel.h"

#define CRIT_MAPS_BYTES (256u << 10) /* of a text; what is beyond is cut */

struct crit_memory_maps;
struct crit_meter;
struct crit_run;

/* Ownership: meter and proc_fd are borrowed.  Errors: -ENOMEM, -EAGAIN where no thread is had. */
int crit_memory_maps_create(int proc_fd, struct crit_meter *meter,
			    struct crit_memory_maps **ret_maps);

/* Accepts NULL.  Returns false when a thread is stuck: it still looks at maps, which stay. */
bool crit_memory_maps_destroy(struct crit_memory_maps *maps);

/* Learns from FORK, EXEC, EXIT and ENROL of a run, stamped time_ns.  Cost: no system call. */
void crit_memory_maps_learn(struct crit_memory_maps *maps, struct crit_run *run,
			    const struct crit_kernel_head *record, uint64_t time_ns);

enum crit_arrival {
	CRIT_ARRIVAL_SHIM = 0, /* its shim says when its maps are read first */
	CRIT_ARRIVAL_BEFORE_EXEC = 1, /* soon it is another program */
	CRIT_ARRIVAL_RUNNING = 2
};

/* A process registered, or was attached. */
void crit_memory_maps_add(struct crit_memory_maps *maps, struct crit_run *run, uint32_t pid,
			  enum crit_arrival arrival, uint64_t now_ns);

/*
 * The maps of a process with a shim were recorded, with that digest: from now on they are looked at
 * like those of others, for it may load libraries at any time.
 */
void crit_memory_maps_follow(struct crit_memory_maps *maps, uint32_t pid, uint64_t digest,
			     uint64_t now_ns);

/*
 * Records what was read, and begins to read what is due.  All that kernel records say up to now_ns
 * is to be learned before.
 */
void crit_memory_maps_step(struct crit_memory_maps *maps, uint64_t now_ns);

/* Forgets the processes of a run, and notes of how many it has no maps. */
void crit_memory_maps_end_run(struct crit_memory_maps *maps, struct crit_run *run, uint64_t now_ns);

/* A hash of what is executable and comes from a file: other lines change all the time. */
uint64_t crit_memory_maps_digest(const char *text, size_t bytes);

#endif
