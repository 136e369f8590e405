/* SPDX-License-Identifier: BSD-3-Clause */
/* What critd tells its clients, and how it ends their connections. */
#ifndef CRIT_COLLECTOR_CONNECTIONS_H
#define CRIT_COLLECTOR_CONNECTIONS_H

#include "collector/loop/server_state.h"

/* Closes and frees one that is not in the table any more. */
void crit_connections_destroy(struct crit_server *server, struct crit_connection *client);

/* Sends a message; a client that does not read is over. */
void crit_connections_send(struct crit_connection *client, const void *message, size_t bytes);

/* Sends everybody of the run WRITTEN. */
void crit_connections_tell_written(struct crit_server *server, struct crit_run *run, int status);

bool crit_connections_has_any(const struct crit_server *server, const struct crit_run *run);
void crit_connections_close_all(struct crit_server *server, struct crit_run *run);

/* Gives up on a client: counts it, notes it in its run's recording, marks it as over. */
void crit_connections_refuse(struct crit_server *server, struct crit_connection *client,
			     const char *why);

#endif
