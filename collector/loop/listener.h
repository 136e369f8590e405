/* SPDX-License-Identifier: BSD-3-Clause */
/* The socket critd listens on: handed over, or made. */
#ifndef CRIT_COLLECTOR_LISTENER_H
#define CRIT_COLLECTOR_LISTENER_H

#include "collector/loop/server_state.h"

/*
 * Takes over --listen-fd, or binds --socket-path, which only the served user may connect to.
 * Errors: -ENOTSOCK, -EADDRINUSE and others, the reason in err.
 */
int crit_listener_open(const struct crit_options *options, int *ret_fd, struct crit_err *err);

/* Accepts nobody for a while. */
void crit_listener_pause(struct crit_server *server);

#endif
