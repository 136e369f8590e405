// SPDX-License-Identifier: BSD-3-Clause
// What a client passes may make critd wait: fstat() of a file on a file system that hangs, close()
// of a TCP socket with data that nobody takes and SO_LINGER.  The kernel closes, too, what is left
// in the queue of a socket, and what finds no free number at recvmsg().  So the main loop only
// peeks: a peek without room for descriptors tells that there are some (MSG_CTRUNC) and takes none.
// Such a message is received by a worker (an inspector), which also asks what the descriptors are;
// the main loop then handles the message by what was found.  What is not kept is closed by a worker
// of another group (a closer), so that waiting in close() keeps no client from being inspected.
//
// A finisher's socket is shared with its client, who may take the message that was looked at and
// put one with descriptors in its place.  So the main loop handles what it peeks, and a worker
// takes it.
//
// The credentials that come with every message of a connection (SO_PASSCRED) tell an empty message
// from the end: without them one could hide what follows it in the queue.
//
// Memfds, pidfds and Unix sockets that passed the inspection never wait: they stay with the main
// loop.
#include "collector/loop/inspection.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "collector/loop/connections.h"
#include "collector/loop/unwinding.h"
#include "collector/record/output_check.h"
#include "collector/system/now.h"
#include "collector/system/procfs.h"

#define PASSED_MAX 253 /* descriptors in a message, the kernel's own limit */
#define LATE_NS 5000000000ull /* CRIT_CLIENT_START_MS: its shim waits no longer */

typedef void handler(struct crit_server *server, struct crit_connection *client,
		     struct crit_message_in *in);

struct inspection {
	struct crit_task task;
	struct crit_server *server;
	struct crit_connection *client; /* NULL: a finisher's message is taken */
	uint32_t run_slot; /* the finisher's */
	uint32_t run_number;
	int fd; /* the client's, borrowed; a duplicate of the finisher's */
	int rc; /* of receiving */
	struct crit_message_in in;
	uint8_t message[]; /* a finisher's, in place of in.bytes: CRIT_PATHS_MESSAGE_MAX */
};

/* Collects descriptors; those beyond the array are closed. */
static void take_fds(struct msghdr *message, struct inspection *inspection)
{
	struct crit_message_in *in = &inspection->in;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c; c = CMSG_NXTHDR(message, c)) {
		size_t count;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < count; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
			if (in->fd_count < CRIT_MESSAGE_FDS)
				in->fds[in->fd_count++] = fd;
			else
				crit_workers_close(inspection->server->closers, fd);
		}
	}
}

static int receive_all(struct inspection *inspection)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int) * PASSED_MAX)];
	} control;
	struct iovec part = { inspection->in.bytes, sizeof(inspection->in.bytes) };
	const struct iovec finisher_part = { inspection->message, CRIT_PATHS_MESSAGE_MAX };
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	ssize_t bytes;

	if (!inspection->client)
		part = finisher_part;
	bytes = recvmsg(inspection->fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	inspection->in.fd_count = 0;
	if (bytes < 0)
		return -errno;
	take_fds(&message, inspection); /* an empty message may have some, too */
	if (bytes == 0)
		return -EPIPE;
	inspection->in.size = (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) ? 0 : (size_t)bytes;
	return 0;
}

/* What the descriptors are, by the kind of message they came with. */
static void look_at(const struct crit_server *server, struct crit_message_in *in)
{
	const struct crit_message_head *head = (const void *)in->bytes;
	struct crit_found *found = &in->found;

	found->status = -EINVAL;
	if (in->size < sizeof(*head))
		return;
	if (head->kind == CRIT_M_OUTPUT && in->fd_count == 2) {
		found->status =
			crit_output_check(in->fds[0], server->options.served_uid, &found->err);
		if (!found->status)
			found->status = crit_output_check_finisher(in->fds[1], &found->err);
	} else if (head->kind == CRIT_M_REGISTER && in->fd_count == 1) {
		found->status = crit_shm_check(in->fds[0], &found->shm, &found->err);
	} else if (head->kind == CRIT_M_ATTACH && in->fd_count == 1) {
		found->status = crit_procfs_pid_of(server->proc_fd, in->fds[0], &found->pid);
	} else {
		(void)crit_err_set(&found->err, -EINVAL, "a message came with %d descriptors",
				   in->fd_count);
	}
}

static void inspect(struct crit_task *task)
{
	struct inspection *inspection = (void *)task;

	inspection->rc = receive_all(inspection);
	if (!inspection->rc)
		look_at(inspection->server, &inspection->in);
}

void crit_inspection_start(struct crit_server *server, struct crit_connection *client)
{
	struct inspection *inspection = calloc(1, sizeof(*inspection));

	if (!inspection) {
		client->is_over = true;
		return;
	}
	inspection->task = (struct crit_task){ .work = inspect, .is_awaited = true };
	inspection->server = server;
	inspection->client = client;
	inspection->fd = client->fd;
	client->inspection = &inspection->task;
	client->inspected_ns = crit_now_ns();
	server->inspected_count++;
	crit_watch_remove(server->epoll_fd, client->fd);
	crit_workers_put(server->inspectors, &inspection->task);
}

static void take(struct crit_task *task)
{
	struct inspection *inspection = (void *)task;

	inspection->rc = receive_all(inspection); /* if it is still there */
}

int crit_inspection_take_finisher(struct crit_server *server, struct crit_run *run)
{
	struct inspection *inspection = calloc(1, sizeof(*inspection) + CRIT_PATHS_MESSAGE_MAX);

	if (!inspection)
		return -ENOMEM;
	inspection->fd = fcntl(run->finisher_fd, F_DUPFD_CLOEXEC, 0);
	if (inspection->fd < 0) {
		const int error = errno;

		free(inspection);
		return -error;
	}
	inspection->task = (struct crit_task){ .work = take, .is_awaited = true };
	inspection->server = server;
	inspection->run_slot = run->slot;
	inspection->run_number = run->number;
	run->is_finisher_inspected = true;
	crit_watch_remove(server->epoll_fd, run->finisher_fd);
	crit_workers_put(server->inspectors, &inspection->task);
	return 0;
}

static void handle_finisher(struct crit_server *server, struct inspection *inspection)
{
	struct crit_run *run = &server->runs[inspection->run_slot];

	crit_message_in_close(server->closers, &inspection->in);
	crit_workers_close(server->closers, inspection->fd);
	if (run->number != inspection->run_number) /* that run is over */
		return;
	run->is_finisher_inspected = false;
	run->is_front_told = false;
	if (!inspection->rc)
		crit_unwinding_take(server, run, inspection->message, inspection->in.size);
	if (run->finisher_fd >= 0)
		(void)crit_watch_add(server->epoll_fd, run->finisher_fd, CRIT_WATCH_FINISHER,
				     run->slot);
}

static void finish(struct crit_server *server, struct inspection *inspection, handler *handle)
{
	struct crit_connection *client = inspection->client;
	struct crit_message_in *in = &inspection->in;

	client->inspection = NULL;
	if (client->is_late) {
		crit_message_in_close(server->closers, in);
		if (server->clients[client->index] != client) /* else it has yet to be reaped */
			crit_connections_destroy(server, client);
		return;
	}
	server->inspected_count--;
	if (inspection->rc)
		client->is_over = true;
	if (!client->is_over)
		handle(server, client, in);
	crit_message_in_close(server->closers, in);
	if (!client->is_over &&
	    crit_watch_add(server->epoll_fd, client->fd, CRIT_WATCH_CLIENT, client->index))
		client->is_over = true;
}

void crit_inspection_collect(struct crit_server *server, handler *handle)
{
	struct crit_task *task;

	while ((task = crit_workers_take_done(server->inspectors))) {
		struct inspection *inspection = (void *)task;

		if (inspection->client)
			finish(server, inspection, handle);
		else
			handle_finisher(server, inspection);
		free(inspection);
	}
}

void crit_inspection_drop(struct crit_task *task)
{
	struct inspection *inspection = (void *)task;

	crit_message_in_close(inspection->server->closers, &inspection->in);
	if (!inspection->client)
		crit_workers_close(inspection->server->closers, inspection->fd);
	free(inspection);
}

static void give_up(struct crit_server *server, struct crit_connection *client)
{
	char text[160];

	server->inspected_count--;
	if (crit_workers_cancel(server->inspectors, client->inspection)) {
		free(client->inspection);
		client->inspection = NULL;
	} else {
		client->is_late = true;
	}
	crit_connections_refuse(
		server, client,
		"what it passed could not be examined for 5 s: a file system hangs");
	if (server->is_late_told)
		return;
	server->is_late_told = true;
	(void)snprintf(text, sizeof(text),
		       "process %u: what it passed could not be examined for 5 s: a file system "
		       "hangs; gave up such processes",
		       client->pid);
	server->say(text);
}

void crit_inspection_give_up(struct crit_server *server, uint64_t now_ns)
{
	for (uint32_t i = 0; i < server->client_end && server->inspected_count > 0; i++) {
		struct crit_connection *client = server->clients[i];

		if (client && client->inspection && !client->is_late &&
		    now_ns > client->inspected_ns + LATE_NS)
			give_up(server, client);
	}
}
