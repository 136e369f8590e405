/* SPDX-License-Identifier: BSD-3-Clause */
/* critd's main loop. */
#ifndef CRIT_COLLECTOR_SERVER_H
#define CRIT_COLLECTOR_SERVER_H

#include "core/base/err.h"

struct crit_options;
struct crit_server;

/*
 * Opens descriptors, sources and writer.  say prints one line, on stderr or to the log; it is told,
 * too, why there is no kernel half.  Ownership: ret_server is closed by crit_server_close.
 * Errors: -errno, the reason in err.
 */
int crit_server_open(const struct crit_options *options, void (*say)(const char *text),
		     struct crit_server **ret_server, struct crit_err *err);

/* Serves until idle, or until a signal; every run is then complete. */
int crit_server_run(struct crit_server *server, struct crit_err *err);

/* What a thread that is stuck in a file system still looks at is not freed.  Accepts NULL. */
void crit_server_close(struct crit_server *server);

#endif
