/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the collector's socket, or starts critd on one. */
#ifndef CRIT_CLIENT_CONNECT_H
#define CRIT_CLIENT_CONNECT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/abi/abi_socket.h"
#include "core/base/err.h"
#include "core/client/client_env.h"

struct crit_client_search {
	const struct crit_client_env *env;
	const char *host;
	const char *run_key;
	int64_t deadline_ns; /* CLOCK_MONOTONIC */
	bool has_no_kernel; /* start critd without its kernel half */
	const struct crit_message_hello *greeting; /* NULL: none */
};

enum crit_client_way { /* how critd was found */
	CRIT_CLIENT_GIVEN = 0, /* at a socket that a setting, a prolog or a unit names: it is up */
	CRIT_CLIENT_FOUND, /* at the launch's own: another of its processes starts it */
	CRIT_CLIENT_STARTED /* by this process */
};

/*
 * Connects, starting critd where nobody listens.  Answers the descriptor, the caller's, or -errno;
 * ret_path: the socket's.  The greeting is sent where critd is started, and is the first message
 * that this critd receives.
 */
int crit_client_connect(const struct crit_client_search *search,
			char ret_path[CRIT_SOCKET_PATH_BYTES], enum crit_client_way *ret_way,
			struct crit_err *err);

#endif
