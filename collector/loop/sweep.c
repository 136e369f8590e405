// SPDX-License-Identifier: BSD-3-Clause
// Removes sockets of dead collectors, under the lock that a client takes to start one.
#include "collector/loop/sweep.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/base/cleanup.h"
#include "core/client/client_directory.h"

#define ENTRIES_MAX 4096 /* of the directory, read */
#define TRIES_MAX 64 /* sockets connected to */
#define SUFFIX ".sock"
#define LOCK_SUFFIX ".lock"
#define NEW_SUFFIX ".new" /* of a client that was killed before the socket had its name */

static bool ends_with(const char *name, const char *suffix)
{
	const size_t length = strlen(name), end = strlen(suffix);

	return length > end && strcmp(name + length - end, suffix) == 0;
}

/* Does connecting say that nobody listens, or that there is no socket? */
static bool is_dead(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	crit_autoclose int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 || strlen(path) >= sizeof(address.sun_path))
		return false;
	memcpy(address.sun_path, path, strlen(path));
	return connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 &&
	       (errno == ECONNREFUSED || errno == ENOENT);
}

static void remove_dead(const char *path)
{
	char lock_path[PATH_MAX + sizeof(LOCK_SUFFIX)];
	char new_path[PATH_MAX + sizeof(NEW_SUFFIX)];
	crit_autoclose int lock_fd = -1;
	struct stat status;

	if (lstat(path, &status) == 0 ? !S_ISSOCK(status.st_mode) : errno != ENOENT)
		return;
	(void)snprintf(lock_path, sizeof(lock_path), "%s" LOCK_SUFFIX, path);
	if (crit_client_take_lock(lock_path, &lock_fd))
		return;
	(void)snprintf(new_path, sizeof(new_path), "%s" NEW_SUFFIX, path);
	(void)unlink(new_path);
	if (is_dead(path))
		(void)unlink(path);
	(void)unlink(lock_path);
	(void)flock(lock_fd, LOCK_UN);
}

void crit_sweep(const char *socket_path)
{
	const char *slash = strrchr(socket_path, '/');
	const char *key = slash ? strrchr(slash, '-') : NULL; /* what follows the node's name */
	char path[PATH_MAX];
	struct dirent *entry;
	int tries = 0;
	DIR *directory;

	if (!key || slash == socket_path)
		return;
	(void)snprintf(path, sizeof(path), "%.*s", (int)(slash - socket_path), socket_path);
	directory = opendir(path);
	if (!directory)
		return;
	for (int i = 0; i < ENTRIES_MAX && tries < TRIES_MAX && (entry = readdir(directory)); i++) {
		int length = (int)strlen(entry->d_name);

		/* of another node, in a directory that nodes share */
		if (strncmp(entry->d_name, slash + 1, (size_t)(key - slash)) != 0)
			continue;
		if (ends_with(entry->d_name, SUFFIX LOCK_SUFFIX))
			length -= (int)strlen(LOCK_SUFFIX);
		else if (ends_with(entry->d_name, SUFFIX NEW_SUFFIX))
			length -= (int)strlen(NEW_SUFFIX);
		else if (!ends_with(entry->d_name, SUFFIX))
			continue;
		(void)snprintf(path, sizeof(path), "%.*s/%.*s", (int)(slash - socket_path),
			       socket_path, length, entry->d_name);
		tries++;
		if (strcmp(path, socket_path) != 0)
			remove_dead(path);
	}
	(void)closedir(directory);
}
