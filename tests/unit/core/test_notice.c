// SPDX-License-Identifier: BSD-3-Clause
// The line on standard error: written where it harms nobody, else left.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <pty.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/client/notice.h"
#include "tests/lib/check.h"

#define LINE "crit: report in here/report.txt\n"

static int signals; /* that reached the program */

static void count(int number)
{
	(void)number;
	signals++;
}

static bool write_line(const struct crit_notice *notice)
{
	sigset_t before, after;
	bool is_written;

	(void)pthread_sigmask(SIG_SETMASK, NULL, &before);
	errno = ENOTTY;
	is_written = crit_notice_write(notice, LINE, strlen(LINE));
	CHECK_INT_EQ(errno, ENOTTY);
	(void)pthread_sigmask(SIG_SETMASK, NULL, &after);
	for (int number = 1; number < 32; number++)
		CHECK_INT_EQ(sigismember(&after, number), sigismember(&before, number));
	CHECK_INT_EQ(signals, 0);
	return is_written;
}

/* What may be read of fd at once. */
static size_t drain(int fd)
{
	char bytes[4096];
	size_t total = 0;
	struct pollfd entry = { .fd = fd, .events = POLLIN };

	while (poll(&entry, 1, 0) == 1) {
		const ssize_t length = read(fd, bytes, sizeof(bytes));

		if (length <= 0)
			break;
		total += (size_t)length;
	}
	return total;
}

static void fill(int fd)
{
	const int flags = fcntl(fd, F_GETFL);
	char bytes[4096] = { 0 };

	(void)fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	for (bool is_full = false; !is_full;) {
		is_full = true;
		for (size_t size = sizeof(bytes); size > 0; size /= 2)
			while (write(fd, bytes, size) > 0)
				is_full = false;
		(void)usleep(20000); /* what is written to a terminal moves on a little later */
	}
	(void)fcntl(fd, F_SETFL, flags);
}

/* standard error is one end of a pair of this kind */
static void check_pair(const char *name, int reader, int writer)
{
	struct crit_notice notice;
	size_t full;

	CHECK_CASE("%s", name);
	(void)dup2(writer, STDERR_FILENO);
	close(writer);
	crit_notice_init(&notice);
	CHECK(write_line(&notice));
	CHECK(drain(reader) >= strlen(LINE)); /* a terminal adds its carriage return */
	CHECK_INT_EQ(fcntl(STDERR_FILENO, F_GETFL) & O_NONBLOCK, 0);
	fill(STDERR_FILENO);
	CHECK(!write_line(&notice));
	full = drain(reader);
	CHECK(full >= 4096);
	close(reader);
	CHECK(!write_line(&notice));
}

static void check_pairs(void)
{
	int ends[2];

	if (CHECK(pipe(ends) == 0))
		check_pair("pipe", ends[0], ends[1]);
	if (CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0))
		check_pair("socket", ends[0], ends[1]);
	if (CHECK(openpty(&ends[0], &ends[1], NULL, NULL, NULL) == 0))
		check_pair("terminal", ends[0], ends[1]);
}

/* A file that is not what descriptor 2 was stays as it is; the one that was grows at its end. */
static void check_files(void)
{
	char path[] = "/tmp/crit-notice.XXXXXX", other[] = "/tmp/crit-notice.XXXXXX";
	const struct rlimit small = { 60, 60 };
	const int file = mkstemp(path), data = mkstemp(other);
	struct crit_notice notice, closed;

	CHECK_CASE("files");
	if (!CHECK(file >= 0 && data >= 0))
		return;
	(void)dup2(file, STDERR_FILENO);
	crit_notice_init(&notice);
	CHECK(write(STDERR_FILENO, "before\n", 7) == 7);
	CHECK(write_line(&notice));
	CHECK_INT_EQ(lseek(file, 0, SEEK_END), 7 + (off_t)strlen(LINE));
	(void)dup2(data, STDERR_FILENO);
	CHECK(!write_line(&notice));
	CHECK_INT_EQ(lseek(data, 0, SEEK_END), 0);
	close(STDERR_FILENO);
	CHECK(!write_line(&notice));
	crit_notice_init(&closed);
	(void)dup2(data, STDERR_FILENO);
	CHECK(!write_line(&closed));
	(void)dup2(file, STDERR_FILENO);
	CHECK(!crit_notice_write(&notice, path, CRIT_NOTICE_BYTES));
	CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0); /* last: it stays */
	CHECK(!write_line(&notice));
	CHECK_INT_EQ(lseek(file, 0, SEEK_END), 7 + (off_t)strlen(LINE));
	(void)unlink(path);
	(void)unlink(other);
}

int main(void)
{
	const struct sigaction counted = { .sa_handler = count };

	stderr = fdopen(dup(STDERR_FILENO), "w"); /* what fails is told there */
	(void)sigaction(SIGPIPE, &counted, NULL);
	(void)sigaction(SIGTTOU, &counted, NULL);
	(void)sigaction(SIGXFSZ, &counted, NULL);
	check_pairs();
	check_files();
	return check_done();
}
