/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of the client share with each other and with nobody else. */
#ifndef CRIT_CLIENT_INTERNAL_H
#define CRIT_CLIENT_INTERNAL_H

#include <errno.h>
#include <stdint.h>

#include "core/client/client.h"
#include "core/base/clock.h"
#include "core/base/guard.h"

static inline int64_t crit_client_now_ns(void)
{
	return (int64_t)crit_clock_ns(CLOCK_MONOTONIC);
}

struct crit_client_program {
	const char *path; /* absolute */
	const char *const *arguments; /* argv, NULL at the end */
	int pass_fd; /* becomes descriptor 3 of the program */
	int error_fd; /* its stderr; -1: /dev/null */
};

/*
 * Starts a program that is no child of ours: own session, working directory /, no LD_* in its
 * environment, no signal disposition or descriptor inherited but pass_fd (3) and error_fd (2).
 * Errors: -errno of what keeps the program from being executed.
 */
int crit_client_spawn(const struct crit_client_program *program);

/*
 * The path of "critd" or "crit": in ../bin, or where install puts programs, as seen from the object
 * this code is in.  No prefix is compiled in, so an installation may be moved as a whole.
 */
int crit_client_find_program(const char *name, char *ret_path, size_t size);

/* Connects client->fd, starting critd where nobody listens. */
int crit_client_connect(struct crit_client *client, const struct crit_client_options *options,
			struct crit_err *err);

/* Makes directory and recording file; ret_fd is the caller's. */
int crit_client_make_output(struct crit_client *client, const struct crit_client_env *env,
			    int *ret_fd, struct crit_err *err);

/*
 * Opens a log of the user's, to append to; one that is full becomes <name>.1, in place of the one
 * before.  Answers the descriptor, the caller's, or -1.
 */
int crit_client_open_log(const char *directory, const char *name);

/* Starts the finisher; ret_fd, the end of the socket pair for critd, is the caller's. */
int crit_client_start_finisher(struct crit_client *client, int *ret_fd, struct crit_err *err);

#endif
