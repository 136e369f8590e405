// SPDX-License-Identifier: BSD-3-Clause
// Opens the socket critd listens on.
#include "collector/loop/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "collector/system/now.h"

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

/*
 * Connecting needs the right to write: the kernel refuses strangers, which costs us nothing.  In a
 * directory of the user's the path may lead to another file by now.
 */
static int give_away(const char *path, uint32_t uid)
{
	struct stat st;
	int fd, rc = 0;

	if (uid == geteuid())
		return 0;
	fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		rc = -errno;
	else if (!S_ISSOCK(st.st_mode) || st.st_uid != geteuid() || st.st_nlink != 1)
		rc = -EPERM;
	else if (fchownat(fd, "", uid, (gid_t)-1, AT_EMPTY_PATH))
		rc = -errno;
	close(fd);
	return rc;
}

static int listen_at(int fd, const struct sockaddr_un *address, uint32_t uid, struct crit_err *err)
{
	const char *path = address->sun_path;
	int rc;

	/* before bind, which makes the file with it */
	if (fchmod(fd, 0600) || bind(fd, (const struct sockaddr *)address, sizeof(*address)))
		return crit_err_set(err, -errno, "cannot bind %s: %s", path, strerror(errno));
	rc = give_away(path, uid);
	if (rc)
		return crit_err_set(err, rc, "cannot make user %u the owner of %s: %s%s", uid, path,
				    strerror(-rc), rc == -EPERM ? "; needs CAP_CHOWN" : "");
	if (listen(fd, BACKLOG))
		return crit_err_set(err, -errno, "cannot listen on %s: %s", path, strerror(errno));
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
	rc = listen_at(fd, &address, options->served_uid, err);
	if (rc) {
		close(fd);
		return rc;
	}
	*ret_fd = fd;
	return 0;
}

void crit_listener_pause(struct crit_server *server)
{
	if (server->deaf_ns == 0)
		crit_watch_remove(server->epoll_fd, server->listen_fd);
	server->deaf_ns = crit_now_ns();
}
