/* SPDX-License-Identifier: BSD-3-Clause */
/* What each message of a client means. */
#ifndef CRIT_COLLECTOR_PROTOCOL_H
#define CRIT_COLLECTOR_PROTOCOL_H

#include "collector/loop/message_in.h"
#include "collector/loop/server_state.h"

/* Handles one message; whatever is wrong with it ends the client, never critd. */
void crit_protocol_handle(struct crit_server *server, struct crit_connection *client,
			  struct crit_message_in *in);

/* A client leaves: its run goes on without it. */
void crit_protocol_leave(struct crit_server *server, struct crit_connection *client);

#endif
