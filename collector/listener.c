// SPDX-License-Identifier: BSD-3-Clause
// Opens the socket critd listens on.
#include "collector/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 4096

static int take_over(int fd, int *ret_fd, struct crit_err *err)
{
	int type = 0;
	socklen_t length = sizeof(type);

	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) || type != SOCK_SEQPACKET)
		return crit_err_set(err, -ENOTSOCK, "descriptor %d is no SOCK_SEQPACKET socket",
				    fd);
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) || fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK))
		return crit_err_set(err, -errno, "cannot use descriptor %d: %s", fd,
				    strerror(errno));
	*ret_fd = fd;
	return 0;
}

int crit_listener_open(const struct crit_options *options, int *ret_fd, struct crit_err *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t length;
	int fd, rc;

	if (options->listen_fd >= 0)
		return take_over(options->listen_fd, ret_fd, err);
	length = strlen(options->socket_path);
	if (length >= sizeof(address.sun_path))
		return crit_err_set(err, -ENAMETOOLONG, "socket path '%s' is too long",
				    options->socket_path);
	memcpy(address.sun_path, options->socket_path, length + 1);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return crit_err_set(err, -errno, "cannot make a socket: %s", strerror(errno));
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) ||
	    chmod(options->socket_path, 0666) || listen(fd, BACKLOG)) {
		rc = -errno;
		(void)close(fd);
		return crit_err_set(err, rc, "cannot listen on %s: %s", options->socket_path,
				    strerror(-rc));
	}
	*ret_fd = fd;
	return 0;
}
