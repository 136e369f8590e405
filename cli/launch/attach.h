/* SPDX-License-Identifier: BSD-3-Clause */
/* crit run -p: can a running process be recorded?  If not, nothing is left of the try. */
#ifndef CRIT_ATTACH_H
#define CRIT_ATTACH_H

#include <stdint.h>
#include <sys/types.h>

#include "core/client/client.h"
#include "core/base/err.h"

/*
 * Can the kernel half record this process for this user?  Asked before a run is begun.
 * Errors: -ESRCH (none such, or over), -EPERM (another user's), -EACCES (not dumpable), -EINVAL
 * (a thread of the kernel).
 */
int crit_attach_check(pid_t pid, struct crit_err *err);

/*
 * Makes the process behind pidfd a member of the run that client has opened.  Where that fails,
 * ends the client, and removes recording and directory.  Errors: -errno.  Cost: then up to some s.
 */
int crit_attach(struct crit_client *client, int pidfd, struct crit_err *err);

struct crit_attached { /* processes */
	uint32_t process_count;
	uint32_t rank_count; /* of MPI, by their environment: their calls are not seen */
	uint32_t left_out_count; /* other users', and those that may not be read */
};

/* Makes members of the processes below one that is a member, too.  Errors: -errno of /proc. */
int crit_attach_children(struct crit_client *client, pid_t pid, struct crit_attached *ret_attached);

#endif
