/* SPDX-License-Identifier: BSD-3-Clause */
/* Raises what critd may use; gives it up once the kernel half is attached. */
#ifndef CRIT_COLLECTOR_PRIVILEGES_H
#define CRIT_COLLECTOR_PRIVILEGES_H

#include <stdint.h>
#include <stdbool.h>

#include "collector/source/sources.h"
#include "core/base/err.h"

/*
 * Makes permitted capabilities effective.  A file that asks the kernel for that itself (+ep) cannot
 * be executed where one of them is outside the bounding set; one that does not (+p) can, without.
 * Errors: -errno.  Threads: before any is started.
 */
int crit_privileges_raise(struct crit_err *err);

/*
 * Becomes uid (when is_root_to_user), drops all capabilities but those without which a trial of the
 * sources fails, and forbids dumps and new privileges.  A critd that serves root keeps
 * CAP_SYS_PTRACE, to read the maps of root's processes.
 * Errors: -errno, the reason in err; the caller must not go on.  Threads: before any is started.
 */
int crit_privileges_drop(uint32_t uid, bool is_root_to_user, const struct crit_sources *sources,
			 struct crit_err *err);

/*
 * Leaves critd, all threads, only the system calls its main loop and its writer make.
 * With perf those that open perf events, too.  Errors: -errno.
 */
int crit_privileges_confine(bool has_perf, struct crit_err *err);

#endif
