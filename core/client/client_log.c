// SPDX-License-Identifier: BSD-3-Clause
// Writes a line to the user's log or to syslog, without the application's
// syslog state.
#include "core/client/client_log.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "core/base/cleanup.h"
#include "core/base/guard.h"
#include "core/base/line.h"
#include "core/base/regular.h"
#include "core/client/client_directory.h"
#include "core/client/client_env.h"

#define USER_WARNING 12 /* facility user, severity warning */
#define LINE_BYTES 1024
#define LOG_BYTES 32768 /* from then on the next line begins a new file */

static void tell_syslog(const char *line, size_t length)
{
	const struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "/dev/log" };
	crit_autoclose int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	char text[LINE_BYTES + 8];
	int size = snprintf(text, sizeof(text), "<%d>%.*s", USER_WARNING, (int)length, line);

	if (fd >= 0 && size > 0)
		(void)sendto(fd, text,
			     (size_t)size < sizeof(text) ? (size_t)size : sizeof(text) - 1,
			     MSG_NOSIGNAL, (const struct sockaddr *)&address, sizeof(address));
}

/*
 * Puts a log that is full aside, under its name with .1.  The lock, and a look whether the name
 * still is this file's, make one of several processes do it.
 */
static void rotate(int fd, const char *path)
{
	char old_path[CRIT_SOCKET_PATH_BYTES + 32];
	struct stat held, named;

	(void)snprintf(old_path, sizeof(old_path), "%s.1", path);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return;
	if (fstat(fd, &held) == 0 && lstat(path, &named) == 0 && held.st_ino == named.st_ino &&
	    held.st_dev == named.st_dev)
		(void)rename(path, old_path);
	(void)flock(fd, LOCK_UN);
}

int crit_client_open_log(const char *directory, const char *name)
{
	char path[CRIT_SOCKET_PATH_BYTES + 16];
	struct stat status;
	int fd = -1;

	(void)snprintf(path, sizeof(path), "%s/%s", directory, name);
	for (int attempt = 0; attempt < 2 && fd < 0; attempt++) {
		fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
			  0600);
		if (attempt == 0 && fd >= 0 && fstat(fd, &status) == 0 &&
		    status.st_size >= LOG_BYTES) {
			rotate(fd, path);
			close(fd);
			fd = -1;
		}
	}
	return fd;
}

/* One write, so that lines of many processes do not mix. */
static void tell_file(const char *line, size_t length)
{
	char directory[CRIT_SOCKET_PATH_BYTES];
	crit_autoclose int fd = -1;

	if (crit_client_socket_directory(directory, sizeof(directory), NULL) < 0)
		return;
	fd = crit_client_open_log(directory, CRIT_LOG_NAME);
	if (fd >= 0 && crit_regular_may_grow(fd, length))
		(void)!write(fd, line, length); /* a full disk: syslog has it */
}

static size_t put_date(char *ret_text, size_t size)
{
	const time_t now = time(NULL);
	struct tm parts;

	return gmtime_r(&now, &parts) ? strftime(ret_text, size, "%Y-%m-%dT%H:%M:%SZ ", &parts) : 0;
}

void crit_client_log(const char *what, const char *text)
{
	CRIT_GUARD;
	char line[LINE_BYTES];
	const size_t date = put_date(line, sizeof(line));
	int length = snprintf(line + date, sizeof(line) - date - 1, "crit[%d]: %s: %s",
			      (int)getpid(), what, text);

	if (length < 0)
		return;
	if ((size_t)length >= sizeof(line) - date - 1)
		length = (int)(sizeof(line) - date) - 2;
	crit_line_tame(line + date, (size_t)length, false);
	tell_syslog(line + date, (size_t)length);
	line[date + (size_t)length] = '\n';
	tell_file(line, date + (size_t)length + 1);
}
