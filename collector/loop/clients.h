/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections to critd: accepts them, reads their messages, never waits for them. */
#ifndef CRIT_COLLECTOR_CLIENTS_H
#define CRIT_COLLECTOR_CLIENTS_H

#include "collector/loop/server.h"

/* Accepts everybody in the backlog. */
void crit_clients_accept(struct crit_server *server);

/* Reads and handles the messages of one client; may mark it as over. */
void crit_clients_read(struct crit_server *server, struct crit_connection *client);

/* Stops watching one client: its messages wait.  unmute watches all clients again. */
void crit_clients_mute(struct crit_server *server, __u32 index);
void crit_clients_unmute(struct crit_server *server);

/* Closes those marked as over. */
void crit_clients_reap(struct crit_server *server);

/* Closes and frees one that is not in the table any more. */
void crit_clients_destroy(struct crit_server *server, struct crit_connection *client);

/* Sends a message; a client that does not read is over. */
void crit_clients_send(struct crit_connection *client, const void *message, size_t bytes);

/* Sends everybody of the run WRITTEN. */
void crit_clients_tell_written(struct crit_server *server, struct crit_run *run, int status);

bool crit_clients_has_any(const struct crit_server *server, const struct crit_run *run);
void crit_clients_close_all(struct crit_server *server, struct crit_run *run);

/* Gives up on a client: counts it, notes it in its run's recording, marks it as over. */
void crit_clients_refuse(struct crit_server *server, struct crit_connection *client,
			 const char *why);

#endif
