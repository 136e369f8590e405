// SPDX-License-Identifier: BSD-3-Clause
// The directory for sockets, locks and logs.  All processes of a run on a node must find the same
// one.  $XDG_RUNTIME_DIR and /run/user/<uid> are the user's own; in /tmp and /dev/shm anybody may
// take a name first, so there is a bounded sequence of names.  One that exists and is the user's
// comes before one that could be made: nobody else can make or remove it, so what the first process
// found stays found, whatever a stranger does to the names before it.
#include "core/client/client_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/cleanup.h"
#include "core/client/client_env.h"

#define NUMBERED 9 /* names, after the two plain ones */
#define PLACES (2 + NUMBERED)

static int say_whose(const char *path, const struct stat *status, struct crit_err *err)
{
	if (status->st_uid != geteuid())
		return crit_err_set(err, -EPERM, "%s belongs to user %u, not to user %u", path,
				    (unsigned int)status->st_uid, (unsigned int)geteuid());
	if (!S_ISDIR(status->st_mode))
		return crit_err_set(err, -EPERM, "%s is no directory", path);
	return crit_err_set(err, -EPERM, "%s is open to other users", path);
}

/* It is there, a directory, ours, and closed to others. */
static int check_directory(const char *path, struct crit_err *err)
{
	struct stat status;

	if (lstat(path, &status) < 0)
		return crit_err_set(err, -errno, "cannot read directory %s: %s", path,
				    strerrordesc_np(errno));
	if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid() || (status.st_mode & 077))
		return say_whose(path, &status, err);
	return 0;
}

static int make_directory(const char *path, struct crit_err *err)
{
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return crit_err_set(err, -errno, "cannot make directory %s: %s", path,
				    strerrordesc_np(errno));
	return check_directory(path, err);
}

/* Names that anybody may take. */
static void name_place(size_t i, char *ret_path, size_t size)
{
	const unsigned int uid = (unsigned int)geteuid();

	if (i < 2)
		(void)snprintf(ret_path, size, "%s/crit-%u", i == 0 ? "/tmp" : "/dev/shm", uid);
	else
		(void)snprintf(ret_path, size, "/tmp/crit-%u-%zu", uid, i - 1);
}

int crit_client_blocked_directory(size_t *at, struct crit_err *ret_reason)
{
	char path[CRIT_SOCKET_PATH_BYTES];

	while (*at < PLACES) {
		name_place((*at)++, path, sizeof(path));
		if (check_directory(path, ret_reason) == -EPERM)
			return 0;
	}
	return -ENOENT;
}

static int find_place(char *ret_path, size_t size, struct crit_err *err)
{
	struct crit_err first = { "" };
	int error = -ENOENT;

	for (size_t i = 0; i < PLACES; i++) {
		name_place(i, ret_path, size);
		if (check_directory(ret_path, NULL) == 0)
			return 0;
	}
	for (size_t i = 0; i < PLACES; i++) {
		name_place(i, ret_path, size);
		error = make_directory(ret_path, i == 0 ? &first : NULL);
		if (error == 0)
			return 0;
	}
	return crit_err_set(err, error,
			    "no directory for sockets: %.100s, and %d more names cannot be had; "
			    "ask root to remove it, or set XDG_RUNTIME_DIR to a private directory",
			    first.text, PLACES - 1);
}

int crit_client_socket_directory(char *ret_path, size_t size, struct crit_err *err)
{
	const char *base = getenv("XDG_RUNTIME_DIR");
	char path[CRIT_SOCKET_PATH_BYTES];
	int error;

	/* 60 bytes stay for the name in sun_path */
	if (base && *base == '/' && strlen(base) < CRIT_SOCKET_PATH_BYTES - 60 &&
	    snprintf(ret_path, size, "%s/crit", base) < (int)size &&
	    make_directory(ret_path, NULL) == 0)
		return 0;
	(void)snprintf(path, sizeof(path), "/run/user/%u/crit", (unsigned int)geteuid());
	error = make_directory(path, NULL);
	if (error)
		error = find_place(path, sizeof(path), err);
	if (error)
		return error;
	return crit_client_copy(ret_path, size, path) ? 0 : -ENAMETOOLONG;
}

int crit_client_take_lock(const char *path, int *ret_fd)
{
	crit_autoclose int fd =
		open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	struct stat held, named;

	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EAGAIN : -errno;
	if (fstat(fd, &held) < 0 || stat(path, &named) < 0 || held.st_ino != named.st_ino)
		return -EAGAIN;
	*ret_fd = fd;
	fd = -1;
	return 0;
}
