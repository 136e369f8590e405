/* SPDX-License-Identifier: BSD-3-Clause */
/* Connections to critd: accepts them, reads their messages, never waits for them. */
#ifndef CRIT_COLLECTOR_CLIENTS_H
#define CRIT_COLLECTOR_CLIENTS_H

#include <stdint.h>

#include "collector/loop/server_state.h"

/* Accepts everybody in the backlog. */
void crit_clients_accept(struct crit_server *server);

/* Reads and handles the messages of one client; may mark it as over. */
void crit_clients_read(struct crit_server *server, struct crit_connection *client);

/* Stops watching one client: its messages wait.  unmute watches all clients again. */
void crit_clients_mute(struct crit_server *server, uint32_t index);
void crit_clients_unmute(struct crit_server *server);

/* Closes those marked as over. */
void crit_clients_reap(struct crit_server *server);

#endif
