/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * critd's own main loop inside a fuzzer: no kernel half, real sockets, and clients of the fuzzer's
 * making, which act before each wait for events.
 */
#ifndef CRIT_TESTS_CRITD_INSIDE_H
#define CRIT_TESTS_CRITD_INSIDE_H

#include <stdbool.h>
#include <sys/types.h>

#define INSIDE_PROCESSES 4u /* that sleep; critd takes its clients for them */

/*
 * Serves as long as act returns true; then act has closed its sockets.  critd ends as on SIGTERM:
 * all recordings are complete and closed.  Errors: aborts when critd cannot start, or does not end.
 */
void inside_serve(bool (*act)(void *user), void *user);

/* For act.  Connects; critd takes the client for this process.  Errors: -1. */
int inside_connect(unsigned int process);
/* The round takes what the rings hold, as a tick does. */
void inside_tick(void);
pid_t inside_pid(unsigned int process);

#endif
