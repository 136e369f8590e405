// SPDX-License-Identifier: BSD-3-Clause
// Receives by peeking first: a message with descriptors is left in the socket; see inspection.c.
#include "collector/loop/message_in.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#define UNREAD_MAX 16 /* messages looked at before a connection is closed here */

/* Reads the next message, and leaves it, if it has no descriptors; control has no room for any. */
static int peek_bare(int fd, void *control, size_t control_bytes, struct crit_message_in *ret_in)
{
	struct iovec part = { ret_in->bytes, sizeof(ret_in->bytes) };
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = control_bytes,
	};
	ssize_t bytes = recvmsg(fd, &message, MSG_DONTWAIT | MSG_PEEK);

	if (bytes < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	if (message.msg_flags & MSG_CTRUNC)
		return -EMSGSIZE;
	if (bytes == 0 && message.msg_controllen == 0)
		return -EPIPE;
	ret_in->fd_count = 0;
	ret_in->size = (message.msg_flags & MSG_TRUNC) ? 0 : (size_t)bytes;
	return 1;
}

int crit_message_in_prepare(int fd)
{
	const int is_wanted = 1;

	return setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &is_wanted, sizeof(is_wanted)) ? -errno : 0;
}

int crit_message_in_receive(int fd, struct crit_message_in *ret_in)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(struct ucred))]; /* full, as all have credentials */
	} control;
	const int rc = peek_bare(fd, control.bytes, sizeof(control.bytes), ret_in);
	char byte;

	if (rc == 1) /* the same one: nobody else has this end of a connection */
		(void)recv(fd, &byte, sizeof(byte), MSG_DONTWAIT);
	return rc;
}

int crit_message_in_peek(int fd, struct crit_message_in *ret_in)
{
	return peek_bare(fd, NULL, 0, ret_in);
}

void crit_message_in_close(struct crit_workers *closers, const struct crit_message_in *in)
{
	for (int i = 0; i < in->fd_count; i++) {
		if (in->fds[i] >= 0)
			crit_workers_close(closers, in->fds[i]);
	}
}

void crit_message_in_hang_up(struct crit_workers *closers, int fd)
{
	static struct crit_message_in in; /* main loop only */

	int rc = 1;

	/* nothing can be put into it from here on */
	(void)shutdown(fd, SHUT_RDWR);
	for (int i = 0; i < UNREAD_MAX && rc == 1; i++)
		rc = crit_message_in_receive(fd, &in);
	if (rc == -EPIPE)
		close(fd);
	else
		crit_workers_close(closers, fd);
}
