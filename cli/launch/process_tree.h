/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes below one that runs, and which ranks they are. */
#ifndef CRIT_PROCESS_TREE_H
#define CRIT_PROCESS_TREE_H

#include <stddef.h>
#include <sys/types.h>

#define CRIT_TREE_MAX 4000 /* processes: critd records 4096 */

/*
 * Calls visit for each process below root, but for this one and those below it, parents first;
 * reads /proc until nothing new appears, eight times at most.  Errors: -ENOMEM, -errno of /proc.
 */
int crit_process_tree_walk(pid_t root, void (*visit)(void *context, pid_t pid), void *context);

/* The parent in the text of /proc/PID/stat; 0: none is named. */
pid_t crit_process_tree_parent(const char *stat);

/* The rank that a launcher of MPI put into an environment, as /proc/PID/environ has it; or -1. */
long crit_process_tree_rank(const char *environment, size_t bytes);

#endif
