/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts critd and crit finish as programs that are no children of the caller. */
#ifndef CRIT_CLIENT_SPAWN_H
#define CRIT_CLIENT_SPAWN_H

#include <stddef.h>

struct crit_client_program {
	const char *path; /* absolute */
	const char *const *arguments; /* argv, NULL at the end */
	int pass_fd; /* becomes descriptor 3 of the program */
	int error_fd; /* its stderr; -1: /dev/null */
};

/*
 * Starts a program that is no child of ours: own session, working directory /, no LD_* in its
 * environment, no signal disposition or descriptor inherited but pass_fd (3) and error_fd (2).
 * The calling thread waits until it is executed, which has no bound; none of our pages is copied.
 * Errors: -errno of what keeps the program from being executed.
 */
int crit_client_spawn(const struct crit_client_program *program);

/*
 * The path of "critd" or "crit": in ../bin, or where install puts programs, as seen from the object
 * this code is in.  No prefix is compiled in, so an installation may be moved as a whole.
 */
int crit_client_find_program(const char *name, char *ret_path, size_t size);

#endif
