/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the collector's socket, or starts critd on one. */
#ifndef CRIT_CLIENT_CONNECT_H
#define CRIT_CLIENT_CONNECT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/err.h"
#include "core/client/client_env.h"

struct crit_client_search {
	const struct crit_client_env *env;
	const char *host;
	const char *run_key;
	int64_t deadline_ns; /* CLOCK_MONOTONIC */
	bool has_no_kernel; /* start critd without its kernel half */
};

/*
 * Connects, starting critd where nobody listens.  Answers the descriptor, the caller's, or -errno;
 * ret_path: the socket's.
 */
int crit_client_connect(const struct crit_client_search *search,
			char ret_path[CRIT_SOCKET_PATH_BYTES], struct crit_err *err);

#endif
