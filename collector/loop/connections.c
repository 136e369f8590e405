// SPDX-License-Identifier: BSD-3-Clause
// Answers clients: messages to one or to all of a run, and the end of a connection.
#include "collector/loop/connections.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "collector/loop/message_in.h"
#include "collector/system/now.h"

void crit_connections_destroy(struct crit_server *server, struct crit_connection *client)
{
	crit_watch_remove(server->epoll_fd, client->fd); /* a worker may close it much later */
	crit_message_in_hang_up(server->closers, client->fd);
	if (client->pidfd >= 0)
		close(client->pidfd);
	free(client);
}

void crit_connections_send(struct crit_connection *client, const void *message, size_t bytes)
{
	if (client->is_over)
		return;
	if (send(client->fd, message, bytes, MSG_DONTWAIT | MSG_NOSIGNAL) != (ssize_t)bytes)
		client->is_over = true;
}

void crit_connections_refuse(struct crit_server *server, struct crit_connection *client,
			     const char *why)
{
	char text[256];

	server->refused_count++;
	client->is_over = true;
	if (!client->run || client->run->state != CRIT_RUN_RECORDING)
		return;
	/* a flood of bad clients must not fill the recording */
	if (client->run->refused_count++ >= 100)
		return;
	(void)snprintf(text, sizeof(text), "process %u: %s", client->pid, why);
	crit_run_note(client->run, CRIT_NOTE_REFUSED, -EINVAL, text);
}

void crit_connections_tell_written(struct crit_server *server, struct crit_run *run, int rc)
{
	const struct crit_message_status message = {
		.head = { CRIT_M_WRITTEN, CRIT_SOCKET_VERSION, sizeof(message) },
		.status = rc,
		.time_ns = crit_now_ns(),
	};

	for (uint32_t i = 0; i < server->client_end; i++) {
		if (server->clients[i] && server->clients[i]->run == run)
			crit_connections_send(server->clients[i], &message, sizeof(message));
	}
}

bool crit_connections_has_any(const struct crit_server *server, const struct crit_run *run)
{
	for (uint32_t i = 0; i < server->client_end; i++) {
		if (server->clients[i] && server->clients[i]->run == run)
			return true;
	}
	return false;
}

void crit_connections_close_all(struct crit_server *server, struct crit_run *run)
{
	for (uint32_t i = 0; i < server->client_end; i++) {
		if (!server->clients[i] || server->clients[i]->run != run)
			continue;
		server->clients[i]->run = NULL;
		server->clients[i]->is_over = true;
	}
}
