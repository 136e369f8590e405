/* SPDX-License-Identifier: BSD-3-Clause */
/* The program crit run starts: registered before exec, signals passed on, its end copied. */
#ifndef CRIT_CHILD_H
#define CRIT_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "core/base/err.h"
#include "core/client/client_env.h"
#include "core/base/linkage.h"

struct crit_child {
	char **program; /* argv */
	const char *exe; /* path to execute */
	const struct crit_client_env *env; /* socket and run key for its registration */
	bool is_recorded; /* false: run it plainly */
	bool has_shim; /* the shim is to be preloaded into it */
	bool is_quiet; /* nothing is said of its registration */
};

/* Looks name up like a shell. Range: ret_path has PATH_MAX bytes. Errors: -ENOENT, -EACCES. */
int crit_child_find(const char *name, char *ret_path);

/*
 * Of the program and those that its command line names by a path, the first into which the shim
 * cannot be loaded.  Ownership: ret_name is one of the words.
 */
enum crit_linkage crit_child_linkage(char *const *program, const char **ret_name);

/*
 * Runs the program to its end, passing on the signals that reach us alone.
 * Errors: -errno of fork or exec.  A failed registration is said on stderr; the program then runs
 * unrecorded.
 */
int crit_child_run(const struct crit_child *child, int *ret_wait_status);

/* One line on stderr, with the reason. */
void crit_child_say_unrecorded(int rc, const struct crit_err *err);

/* Ends this process by the signal that ended the child, or answers its exit status. */
int crit_child_end_like(int wait_status);

/* A descriptor of a running process. Errors: -ESRCH, -errno. */
int crit_child_pidfd(pid_t pid);

/* Waits until the process behind pidfd ends or somebody sends SIGINT or SIGTERM. */
void crit_child_watch(int pidfd);

#endif
