// SPDX-License-Identifier: BSD-3-Clause
// What workers have done and nobody took is given back when critd ends: memory and descriptors.
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "collector/loop/inspection.h"
#include "collector/system/workers.h"
#include "tests/lib/check.h"

#define TASKS 8u
#define LONG_MS 10000 /* more than any of this takes */

static struct crit_server server;
static unsigned int dropped;

static bool has_event(int fd, short event)
{
	struct pollfd wait = { .fd = fd, .events = event };

	return poll(&wait, 1, LONG_MS) == 1 && (wait.revents & event);
}

static void do_nothing(struct crit_task *task)
{
	(void)task;
}

static void drop(struct crit_task *task)
{
	free(task);
	dropped++;
}

/* Those that are done and were taken, and those that nobody awaits, are not the workers'. */
static void test_untaken(void)
{
	struct crit_workers *workers = NULL;
	struct crit_task *taken;

	if (!CHECK_INT_EQ(crit_workers_create(&workers), 0))
		return;
	for (unsigned int i = 0; i < TASKS; i++) {
		struct crit_task *task = calloc(1, sizeof(*task));

		*task = (struct crit_task){ .work = do_nothing, .is_awaited = true };
		crit_workers_put(workers, task);
	}
	CHECK(has_event(crit_workers_done_fd(workers), POLLIN));
	taken = crit_workers_take_done(workers);
	CHECK(taken != NULL);
	free(taken);
	CHECK(crit_workers_destroy(workers, drop)); /* ends when all are done */
	CHECK_UINT_EQ(dropped, TASKS - 1);
}

static void send_with(int fd, int passed)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .bytes = { 0 } };
	struct crit_message_head head = { .kind = CRIT_M_REGISTER };
	struct iovec part = { &head, sizeof(head) };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control.bytes,
				  .msg_controllen = sizeof(control.bytes) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&message);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(passed));
	memcpy(CMSG_DATA(c), &passed, sizeof(passed));
	CHECK_INT_EQ(sendmsg(fd, &message, 0), (ssize_t)sizeof(head));
}

/* Begins to inspect a message from a client, or from a finisher. */
static void begin(int fd, bool is_finisher)
{
	static struct crit_connection client;
	static struct crit_run run;

	client = (struct crit_connection){ .fd = fd };
	run = (struct crit_run){ .finisher_fd = fd };
	server.runs = &run;
	if (is_finisher)
		CHECK_INT_EQ(crit_inspection_take_finisher(&server, &run), 0);
	else
		crit_inspection_start(&server, &client);
}

/* critd ends before it has taken a message that passes a pipe's end: the pipe is closed. */
static void test_message(bool is_finisher)
{
	int sockets[2], passed[2];
	char byte;

	CHECK_CASE("%s", is_finisher ? "of a finisher" : "of a client");
	server = (struct crit_server){ .epoll_fd = epoll_create1(EPOLL_CLOEXEC) };
	CHECK_INT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets), 0);
	CHECK_INT_EQ(pipe(passed), 0);
	if (!CHECK_INT_EQ(crit_workers_create(&server.inspectors), 0) ||
	    !CHECK_INT_EQ(crit_workers_create(&server.closers), 0))
		return;
	send_with(sockets[1], passed[1]);
	close(passed[1]);
	begin(sockets[0], is_finisher);
	CHECK(has_event(crit_workers_done_fd(server.inspectors), POLLIN));
	CHECK(crit_workers_destroy(server.inspectors, crit_inspection_drop));
	CHECK(crit_workers_destroy(server.closers, NULL));
	CHECK(has_event(passed[0], POLLHUP));
	close(sockets[0]);
	CHECK_INT_EQ(recv(sockets[1], &byte, 1, MSG_DONTWAIT), 0); /* no duplicate is left */
	close(sockets[1]);
	close(passed[0]);
	close(server.epoll_fd);
}

int main(void)
{
	test_untaken();
	test_message(false);
	test_message(true);
	return check_done();
}
