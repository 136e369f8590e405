// SPDX-License-Identifier: BSD-3-Clause
// Writes one line to the program's standard error, or leaves it.
#include "core/client/notice.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/cleanup.h"
#include "core/base/guard.h"
#include "core/base/regular.h"

void crit_notice_init(struct crit_notice *ret_notice)
{
	CRIT_GUARD;
	struct stat status;

	*ret_notice = (struct crit_notice){ .is_open = fstat(STDERR_FILENO, &status) == 0 };
	if (!ret_notice->is_open)
		return;
	ret_notice->mode = status.st_mode;
	ret_notice->device = status.st_dev;
	ret_notice->inode = status.st_ino;
}

static bool is_same_file(const struct crit_notice *notice, const struct stat *status)
{
	return notice->is_open && status->st_dev == notice->device &&
	       status->st_ino == notice->inode &&
	       (status->st_mode & S_IFMT) == (notice->mode & S_IFMT);
}

/* The end of a pipe that the program reads is the same file: what it got back would be our line. */
static bool is_writable(void)
{
	const int flags = fcntl(STDERR_FILENO, F_GETFL);

	return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

/* The same pipe or terminal, opened once more: its own flags, so that the program's stay. */
static ssize_t write_without_waiting(const char *line, size_t length)
{
	crit_autoclose int fd =
		open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	return fd < 0 ? -1 : write(fd, line, length);
}

static ssize_t write_line(const struct stat *status, const char *line, size_t length)
{
	struct pollfd room = { .fd = STDERR_FILENO, .events = POLLOUT };

	if (S_ISSOCK(status->st_mode))
		return send(STDERR_FILENO, line, length, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (S_ISFIFO(status->st_mode) || isatty(STDERR_FILENO))
		return write_without_waiting(line, length);
	if (S_ISREG(status->st_mode) && !crit_regular_may_grow(STDERR_FILENO, length))
		return -1;
	/* a file or a device; a file always has room */
	return poll(&room, 1, 0) == 1 && (room.revents & POLLOUT)
		       ? write(STDERR_FILENO, line, length)
		       : -1;
}

bool crit_notice_write(const struct crit_notice *notice, const char *line, size_t length)
{
	CRIT_GUARD;
	const struct timespec at_once = { 0 };
	sigset_t harmful, old, pending;
	struct stat status;
	ssize_t written;

	if (length >= CRIT_NOTICE_BYTES || fstat(STDERR_FILENO, &status) < 0 ||
	    !is_same_file(notice, &status) || !is_writable())
		return false;
	(void)sigemptyset(&harmful);
	(void)sigaddset(&harmful, SIGPIPE);
	(void)sigaddset(&harmful, SIGTTOU); /* a job in the background of its terminal */
	if (pthread_sigmask(SIG_BLOCK, &harmful, &old) != 0)
		return false;
	(void)sigpending(&pending);
	written = write_line(&status, line, length);
	/* SIGPIPE goes to the thread that writes: remove the one this caused */
	if (written < 0 && errno == EPIPE && !sigismember(&pending, SIGPIPE)) {
		(void)sigdelset(&harmful, SIGTTOU);
		(void)sigtimedwait(&harmful, NULL, &at_once);
	}
	(void)pthread_sigmask(SIG_SETMASK, &old, NULL);
	return written == (ssize_t)length;
}
