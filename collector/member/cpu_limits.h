/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which CPUs a registered process may use, and how much of them: the affinity masks of its threads
 * and the quotas of its cgroups, looked at again and again.
 *
 * Masks are set after a process registers: crit run becomes taskset, which becomes the program;
 * ranks and OpenMP runtimes bind their threads themselves, after MPI_Init.  So the first look is
 * not at the registration but a moment later, a rank's a moment after MPI_Init.  The next ones
 * follow after pauses that double up to a second, and a rank is looked at when it closes.
 */
#ifndef CRIT_COLLECTOR_CPU_LIMITS_H
#define CRIT_COLLECTOR_CPU_LIMITS_H

#include <stdint.h>

#include "core/abi/abi_recording.h"

struct crit_cgroups;
struct crit_run;

struct crit_cpu_limits { /* of one process */
	uint64_t due_ns; /* the next look */
	uint64_t pause_ns; /* from that to the one after it */
	uint64_t seen; /* a digest of what is written; 0 nothing */
};

enum crit_cpu_limits_start { /* when the first look is due */
	CRIT_CPU_LIMITS_AT_ONCE = 0, /* it runs for long already */
	CRIT_CPU_LIMITS_SOON, /* after 0.1 s */
	CRIT_CPU_LIMITS_IN_INIT, /* of MPI: after 2 s, if it becomes no rank before */
	CRIT_CPU_LIMITS_START_COUNT
};

/* The process registered, became another program, or a rank: what was seen of it is forgotten. */
void crit_cpu_limits_begin(struct crit_cpu_limits *state, enum crit_cpu_limits_start start,
			   uint64_t now_ns);

/*
 * Looks at once, at no more than CRIT_CPU_THREADS_MAX threads, and writes USABLE_CPUS when that is
 * not what was written before.  Returns the number of threads looked at.
 */
uint32_t crit_cpu_limits_look(struct crit_cpu_limits *state, struct crit_cgroups *cgroups,
			      int proc_fd, struct crit_run *run, uint32_t pid, uint64_t now_ns);

#endif
