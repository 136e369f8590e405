/* SPDX-License-Identifier: BSD-3-Clause */
/* What critd reads of other processes under /proc. */
#ifndef CRIT_COLLECTOR_PROCFS_H
#define CRIT_COLLECTOR_PROCFS_H

#include <stdint.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/abi/abi_kernel.h"

struct crit_procfs_task {
	uint32_t tid;
	uint32_t tgid;
	uint32_t parent_tgid;
	uint32_t ns_tid;
	char state; /* as in /proc/PID/stat: R, S, D, T, t, Z, X, I */
	char comm[CRIT_COMM_BYTES];
};

/* Does it wait for something, or was it stopped?  Else it runs, would, or is dead. */
bool crit_procfs_is_asleep(const struct crit_procfs_task *task);

/* Describes one thread.  proc_fd is /proc.  Errors: -ESRCH. */
int crit_procfs_task(int proc_fd, uint32_t pid, uint32_t tid, struct crit_procfs_task *ret_task);

/* Calls visit for every thread of the process until it answers non-zero.  Returns their count. */
int crit_procfs_each_tid(int proc_fd, uint32_t pid, int (*visit)(void *context, uint32_t tid),
			 void *context);

/* Likewise for every process that proc_fd shows. */
int crit_procfs_each_pid(int proc_fd, int (*visit)(void *context, uint32_t pid), void *context);

/* Reads a file of the process, cut at bytes.  Returns the length, or -errno. */
long crit_procfs_read(int proc_fd, uint32_t pid, const char *file, char *ret_text, size_t bytes);

/* Reads a file under proc_fd that belongs to no process. */
long crit_procfs_read_file(int proc_fd, const char *path, char *ret_text, size_t bytes);

/* Owner of /proc/PID: the user, or root when the process is not dumpable.  Errors: -ESRCH. */
int crit_procfs_owner(int proc_fd, uint32_t pid, uint32_t *ret_uid);

/* The process behind a pidfd.  Errors: -EINVAL when fd is none, -ESRCH when it ended. */
int crit_procfs_pid_of(int proc_fd, int pidfd, uint32_t *ret_pid);

#endif
