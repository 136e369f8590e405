// SPDX-License-Identifier: BSD-3-Clause
// Takes the lock file of a run's directory, or polls it until its holder is through.
#include "cli/results/finish_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/results/no_report.h"
#include "report/pages/report_files.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/base/regular.h"

#define REPORTED_BYTES 1 /* size of the lock file once only the archive is to come */
#define WAIT_STEP_MS 5
#define FREE_STEPS_MAX 20 /* a lock file that nobody locks that long is a leftover */

/* Its holder removes the file, so a lock won on one that has lost its name is none. */
static bool has_lock_name(int directory_fd, int fd)
{
	struct stat held, named;

	return fstat(fd, &held) == 0 &&
	       fstatat(directory_fd, CRIT_LOCK_NAME, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	       held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

static bool has_size(int fd, off_t bytes)
{
	struct stat status;

	return fstat(fd, &status) == 0 && status.st_size == bytes;
}

/* Nothing else than a lock file of ours loses or gains a byte, whatever bears its name. */
static void resize(int fd, off_t from, off_t to)
{
	if (has_size(fd, from))
		(void)ftruncate(fd, to);
}

static int try_lock(int directory_fd)
{
	int fd = openat(directory_fd, CRIT_LOCK_NAME,
			O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
	int rc = 0;

	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB))
		rc = errno == EINTR ? -EWOULDBLOCK : -errno;
	else if (!has_lock_name(directory_fd, fd))
		rc = -EWOULDBLOCK;
	if (rc)
		close(fd);
	else
		resize(fd, REPORTED_BYTES, 0); /* by one that was killed */
	return rc ? rc : fd;
}

int crit_finish_lock_take(int directory_fd, int timeout_ms)
{
	const uint64_t deadline_ms = crit_clock_ms() + (uint64_t)timeout_ms;
	int fd;

	while ((fd = try_lock(directory_fd)) == -EWOULDBLOCK && crit_clock_ms() < deadline_ms)
		crit_clock_pause_ns(1000000);
	return fd;
}

void crit_finish_lock_mark_reported(int lock_fd)
{
	resize(lock_fd, 0, REPORTED_BYTES); /* else others wait for the archive too */
}

static int wait_lock(const char *directory, int timeout_ms, bool has_trace)
{
	uint64_t deadline_ms = crit_clock_ms() + (uint64_t)(timeout_ms > 0 ? timeout_ms : 0);
	char path[PATH_MAX];
	crit_autoclose int fd = -1;

	(void)snprintf(path, sizeof(path), "%s/%s", directory, CRIT_LOCK_NAME);
	fd = crit_regular_open(path, O_NOFOLLOW, NULL);
	if (fd < 0)
		return 0; /* nobody ever held it, or what is there is no lock of ours */
	while (flock(fd, LOCK_SH | LOCK_NB)) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return 0; /* no locks on this file system: nothing to wait for */
		if (!has_trace && has_size(fd, REPORTED_BYTES))
			return 0;
		if (crit_clock_ms() >= deadline_ms)
			return -ETIMEDOUT;
		crit_clock_pause_ns(WAIT_STEP_MS * 1000000);
	}
	return 0;
}

int crit_finish_lock_wait(const char *directory, int timeout_ms)
{
	return wait_lock(directory, timeout_ms, false);
}

int crit_finish_lock_wait_trace(const char *directory, int timeout_ms)
{
	return wait_lock(directory, timeout_ms, true);
}

int crit_finish_lock_wait_report(const char *directory, int timeout_ms)
{
	uint64_t begin_ms = crit_clock_ms();
	char report[PATH_MAX];
	char no_report[PATH_MAX];
	char lock[PATH_MAX];
	bool has_started = false;
	int free_steps = 0;

	(void)snprintf(report, sizeof(report), "%s/report.json", directory);
	(void)snprintf(no_report, sizeof(no_report), "%s/%s", directory, CRIT_NO_REPORT_NAME);
	(void)snprintf(lock, sizeof(lock), "%s/%s", directory, CRIT_LOCK_NAME);
	for (;;) {
		int passed_ms = (int)(crit_clock_ms() - begin_ms);
		bool is_locked = access(lock, F_OK) == 0;

		if (passed_ms >= timeout_ms)
			return -ETIMEDOUT;
		if (access(report, F_OK) == 0)
			return crit_finish_lock_wait(directory, timeout_ms - passed_ms);
		free_steps = is_locked && crit_finish_lock_wait(directory, 0) == 0 ? free_steps + 1
										   : 0;
		if ((!is_locked && (has_started || access(no_report, F_OK) == 0)) ||
		    free_steps > FREE_STEPS_MAX)
			return -ENOENT; /* it came and went, or was killed, and left no report */
		has_started = has_started || is_locked;
		crit_clock_pause_ns(WAIT_STEP_MS * 1000000);
	}
}
