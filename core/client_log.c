// SPDX-License-Identifier: BSD-3-Clause
// Leaves a line where an administrator or crit doctor will look, without the application's
// syslog state.
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/cleanup.h"
#include "core/client_internal.h"

#define USER_WARNING 12 /* facility user, severity warning */

static void tell_syslog(const char *line, size_t length)
{
	const struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "/dev/log" };
	crit_autoclose int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	char text[600];
	int size = snprintf(text, sizeof(text), "<%d>%.*s", USER_WARNING, (int)length, line);

	if (fd >= 0 && size > 0)
		(void)sendto(fd, text,
			     (size_t)size < sizeof(text) ? (size_t)size : sizeof(text) - 1,
			     MSG_NOSIGNAL, (const struct sockaddr *)&address, sizeof(address));
}

/* Beyond RLIMIT_FSIZE a write is a signal that ends the application. */
static bool may_grow(int fd, size_t length)
{
	struct rlimit limit;
	struct stat status;

	return getrlimit(RLIMIT_FSIZE, &limit) == 0 && fstat(fd, &status) == 0 &&
	       (limit.rlim_cur == RLIM_INFINITY ||
		(rlim_t)status.st_size + length <= limit.rlim_cur);
}

static void tell_file(const struct crit_client *client, const char *line, size_t length)
{
	char directory[CRIT_SOCKET_PATH_BYTES];
	char path[CRIT_SOCKET_PATH_BYTES + CRIT_EXE_BYTES + 32];
	const char *slash = strrchr(client->exe, '/');
	crit_autoclose int fd = -1;

	if (crit_client_socket_directory(directory, sizeof(directory), NULL) < 0)
		return;
	(void)snprintf(path, sizeof(path), "%s/%s-%d.log", directory,
		       slash ? slash + 1 : client->exe, (int)getpid());
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0 && may_grow(fd, length + 1) && write(fd, line, length) == (ssize_t)length)
		(void)!write(fd, "\n", 1); /* a full disk: syslog has it */
}

void crit_client_log(const struct crit_client *client, const char *text)
{
	CRIT_GUARD;
	char line[512];
	int length = snprintf(line, sizeof(line), "crit[%d]: no complete recording of %s: %s",
			      (int)getpid(), client->exe, text);

	if (length < 0)
		return;
	if ((size_t)length >= sizeof(line))
		length = sizeof(line) - 1;
	tell_syslog(line, (size_t)length);
	tell_file(client, line, (size_t)length);
}
