// SPDX-License-Identifier: BSD-3-Clause
// Accepts connections and reads messages; what a message means is decided in protocol.c.
#include "collector/loop/clients.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collector/loop/connections.h"
#include "collector/loop/inspection.h"
#include "collector/loop/listener.h"
#include "collector/loop/message_in.h"
#include "collector/loop/protocol.h"
#include "collector/system/now.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

#define MESSAGES_AT_ONCE 16
#define ACCEPTS_AT_ONCE 64

static int open_peer_pidfd(int fd, uint32_t pid)
{
	int pidfd = -1;
	socklen_t length = sizeof(pidfd);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &pidfd, &length) == 0)
		return pidfd;
	pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	return pidfd < 0 ? -errno : pidfd;
}

/* A stranger is told so, and nothing else. */
static void turn_away(struct crit_server *server, int fd, int rc)
{
	struct crit_message_welcome message = {
		.head = { CRIT_M_WELCOME, CRIT_SOCKET_VERSION, sizeof(message) },
		.status = rc,
	};

	server->refused_count++;
	(void)send(fd, &message, sizeof(message), MSG_DONTWAIT | MSG_NOSIGNAL);
	crit_message_in_hang_up(server->closers, fd);
}

static int put_into_table(struct crit_server *server, struct crit_connection *client)
{
	for (uint32_t i = 0; i < CRIT_CLIENTS_MAX; i++) {
		if (server->clients[i])
			continue;
		server->clients[i] = client;
		server->client_count++;
		if (i >= server->client_end)
			server->client_end = i + 1;
		client->index = i;
		return 0;
	}
	return -ENOSPC;
}

static void accept_one(struct crit_server *server, int fd)
{
	struct ucred peer = { 0 };
	socklen_t length = sizeof(peer);
	struct crit_connection *client;
	int pidfd;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) ||
	    peer.uid != server->options.served_uid) {
		turn_away(server, fd, -EACCES);
		return;
	}
	pidfd = open_peer_pidfd(fd, (uint32_t)peer.pid);
	if (pidfd < 0) {
		turn_away(server, fd, pidfd);
		return;
	}
	client = calloc(1, sizeof(*client));
	if (!client || put_into_table(server, client)) {
		free(client);
		close(pidfd);
		turn_away(server, fd, -EUSERS);
		return;
	}
	client->fd = fd;
	client->pid = (uint32_t)peer.pid;
	client->pidfd = pidfd;
	if (crit_watch_add(server->epoll_fd, fd, CRIT_WATCH_CLIENT, client->index))
		client->is_over = true;
}

static int accept_any(const struct crit_server *server)
{
	int fd = accept4(server->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	int rc;

	if (fd < 0)
		return -errno;
	rc = crit_message_in_prepare(fd); /* cannot fail for a Unix socket */
	if (rc)
		close(fd);
	return rc ? rc : fd;
}

static void tell_full(struct crit_server *server, int error)
{
	char text[160];

	if (server->is_full_told)
		return;
	server->is_full_told = true;
	(void)snprintf(text, sizeof(text),
		       "cannot accept another client beside %u: %s; raise the limit of open files",
		       server->client_count, strerror(-error));
	server->say(text);
}

/*
 * Out of descriptors: the reserve lets one client in, to be told so instead of waiting.  Where even
 * that does not help (the table of the whole system is full), we do not listen for a while.
 * Returns false when there is nobody to accept, or nothing to accept with.
 */
static bool refuse_one(struct crit_server *server, int error)
{
	int fd;

	close(server->reserve_fd);
	fd = accept_any(server);
	if (fd >= 0)
		turn_away(server, fd, error);
	server->reserve_fd = fcntl(server->epoll_fd, F_DUPFD_CLOEXEC, 0);
	if (fd == -EAGAIN)
		return false;
	tell_full(server, error);
	if (fd >= 0)
		return true;
	crit_listener_pause(server);
	return false;
}

void crit_clients_accept(struct crit_server *server)
{
	for (int i = 0; i < ACCEPTS_AT_ONCE; i++) {
		int fd = accept_any(server);

		if (fd >= 0)
			accept_one(server, fd);
		else if (fd == -EAGAIN || fd == -ECONNABORTED || fd == -EINTR ||
			 !refuse_one(server, fd))
			return;
	}
}

void crit_clients_read(struct crit_server *server, struct crit_connection *client)
{
	static struct crit_message_in in; /* one thread, one message at a time */

	for (int i = 0; i < MESSAGES_AT_ONCE && !client->is_over; i++) {
		int rc = crit_message_in_receive(client->fd, &in);

		if (rc == 0)
			return;
		if (rc == -EMSGSIZE) {
			crit_inspection_start(server, client);
			return;
		}
		if (rc < 0)
			client->is_over = true;
		else
			crit_protocol_handle(server, client, &in);
	}
}

void crit_clients_mute(struct crit_server *server, uint32_t index)
{
	struct crit_connection *client = server->clients[index];

	if (!client || client->is_over || client->is_muted || client->inspection)
		return;
	client->is_muted = true;
	server->has_muted = true;
	crit_watch_remove(server->epoll_fd, client->fd);
}

void crit_clients_unmute(struct crit_server *server)
{
	for (uint32_t i = 0; i < server->client_end && server->has_muted; i++) {
		struct crit_connection *client = server->clients[i];

		if (!client || !client->is_muted)
			continue;
		client->is_muted = false;
		if (crit_watch_add(server->epoll_fd, client->fd, CRIT_WATCH_CLIENT, i))
			client->is_over = true;
	}
	server->has_muted = false;
}

void crit_clients_reap(struct crit_server *server)
{
	for (uint32_t i = 0; i < server->client_end; i++) {
		struct crit_connection *client = server->clients[i];

		if (!client || !client->is_over || (client->inspection && !client->is_late))
			continue;
		crit_protocol_leave(server, client);
		server->clients[i] = NULL;
		server->client_count--;
		if (client->inspection) /* its worker still looks at it */
			(void)shutdown(client->fd, SHUT_RDWR);
		else
			crit_connections_destroy(server, client);
	}
}
