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
#ifndef CRIT_COLLECTOR_USABLE_CPUS_H
#define CRIT_COLLECTOR_USABLE_CPUS_H

#include "core/abi/abi_recording.h"

struct crit_client_process;
struct crit_server;

struct crit_usable_cpus { /* of one process */
	__u64 due_ns; /* the next look */
	__u64 pause_ns; /* from that to the one after it */
	__u64 seen; /* a digest of what is written; 0 nothing */
};

enum crit_usable_start { /* when the first look is due */
	CRIT_USABLE_AT_ONCE = 0, /* it runs for long already */
	CRIT_USABLE_SOON, /* after 0.1 s */
	CRIT_USABLE_IN_INIT, /* of MPI: after 2 s, if it becomes no rank before */
	CRIT_USABLE_START_COUNT
};

/* The process registered, became another program, or a rank: what was seen of it is forgotten. */
void crit_usable_cpus_begin(struct crit_client_process *process, enum crit_usable_start start,
			    __u64 now_ns);

/*
 * Looks at once, at no more than CRIT_CPU_THREADS_MAX threads, and writes USABLE_CPUS when that is
 * not what was written before.  Returns the number of threads looked at.
 */
__u32 crit_usable_cpus_look(struct crit_server *server, struct crit_client_process *process,
			    __u64 now_ns);

/*
 * Looks at the processes that are due.  Cost: bounded per call; with more processes or threads than
 * that each is looked at less often.
 */
void crit_usable_cpus_step(struct crit_server *server, __u64 now_ns);

#endif
