/* SPDX-License-Identifier: BSD-3-Clause */
/* crit run -p: can a running process be recorded?  If not, nothing is left of the try. */
#ifndef CRIT_ATTACH_H
#define CRIT_ATTACH_H

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

#endif
