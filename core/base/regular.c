// SPDX-License-Identifier: BSD-3-Clause
// Opens regular files only, and never waits for a writer; knows how far one may grow.
#include "core/base/regular.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

int crit_regular_open(const char *path, int flags, struct crit_err *err)
{
	struct stat status;
	int unknown = flags & O_NOFOLLOW ? lstat(path, &status) : stat(path, &status);
	int fd;

	if (!unknown && !S_ISREG(status.st_mode)) /* opening a device may do something */
		return crit_err_set(err, -EPROTO, "cannot read %.160s: not a regular file", path);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | flags);
	if (fd < 0)
		return crit_err_set(err, -errno, "cannot open %.160s: %s", path, strerror(errno));
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
		return fd;
	close(fd);
	return crit_err_set(err, -EPROTO, "cannot read %.160s: not a regular file", path);
}

FILE *crit_regular_stream(const char *path, struct crit_err *err)
{
	int fd = crit_regular_open(path, 0, err);
	FILE *stream = fd >= 0 ? fdopen(fd, "r") : NULL;

	if (fd >= 0 && !stream) {
		(void)crit_err_set(err, -errno, "cannot open %.160s: %s", path, strerror(errno));
		close(fd);
	}
	return stream;
}

bool crit_regular_may_grow(int fd, size_t length)
{
	struct rlimit limit;
	struct stat status;
	off_t end;

	if (getrlimit(RLIMIT_FSIZE, &limit) || fstat(fd, &status))
		return false;
	end = lseek(fd, 0, SEEK_CUR);
	if (end < status.st_size)
		end = status.st_size;
	return limit.rlim_cur == RLIM_INFINITY || (rlim_t)end + length <= limit.rlim_cur;
}
