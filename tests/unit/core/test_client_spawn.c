// SPDX-License-Identifier: BSD-3-Clause
// A program is started beside a large caller: it runs, is no child, and moves no page of it.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/client/client_spawn.h"
#include "tests/lib/check.h"

#define PAGES 4096u
#define STRAY_FAULTS 64 /* of what else is touched for the first time */

static volatile sig_atomic_t child_count;

static void on_child(int signal)
{
	(void)signal;
	child_count++;
}

static long faults(void)
{
	struct rusage usage;

	CHECK_INT_EQ(getrusage(RUSAGE_SELF, &usage), 0);
	return usage.ru_minflt;
}

static void write_pages(char *memory, size_t page_bytes, char value)
{
	for (size_t i = 0; i < PAGES; i++)
		((volatile char *)memory)[i * page_bytes] = value;
}

/* Starts a shell that writes its parent's number into its third descriptor. */
static void start_shell(int pass_fd)
{
	static const char *const arguments[] = { "sh", "-c", "echo $PPID >&3", NULL };
	const struct crit_client_program shell = {
		.path = "/bin/sh", .arguments = arguments, .pass_fd = pass_fd, .error_fd = -1
	};

	CHECK_INT_EQ(crit_client_spawn(&shell), 0);
}

static void check_started(void)
{
	char said[32] = "";
	int pipe_fds[2];
	ssize_t length;

	CHECK_INT_EQ(pipe2(pipe_fds, O_CLOEXEC), 0);
	start_shell(pipe_fds[1]);
	close(pipe_fds[1]);
	length = read(pipe_fds[0], said, sizeof(said) - 1);
	CHECK(length > 1);
	CHECK(atol(said) > 0 && atol(said) != getpid());
	CHECK_INT_EQ(read(pipe_fds[0], said, 1), 0); /* it has ended */
	close(pipe_fds[0]);
	CHECK_INT_EQ(waitpid(-1, NULL, WNOHANG | __WALL), -1);
	CHECK_INT_EQ(errno, ECHILD);
	CHECK_INT_EQ(child_count, 0);
}

static void check_pages_stay(void)
{
	const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, PAGES * page_bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	long before;

	CHECK(memory != MAP_FAILED && null_fd >= 0);
	(void)madvise(memory, PAGES * page_bytes, MADV_NOHUGEPAGE);
	before = faults();
	write_pages(memory, page_bytes, 1);
	CHECK(faults() - before >= PAGES); /* so they are counted */
	start_shell(null_fd);
	before = faults();
	write_pages(memory, page_bytes, 2);
	CHECK(faults() - before < STRAY_FAULTS);
	close(null_fd);
	(void)munmap(memory, PAGES * page_bytes);
}

/* Why a program cannot be executed reaches the caller, whose signals are as before. */
static void check_refused(void)
{
	static const char *const arguments[] = { "none", NULL };
	char path[] = "/tmp/crit-spawn-XXXXXX";
	const int fd = mkostemp(path, O_CLOEXEC);
	struct crit_client_program program = {
		.path = path, .arguments = arguments, .pass_fd = STDIN_FILENO, .error_fd = -1
	};
	sigset_t mask;

	CHECK(fd >= 0 && write(fd, "nothing", 7) == 7 && fchmod(fd, 0755) == 0);
	close(fd);
	CHECK_INT_EQ(crit_client_spawn(&program), -ENOEXEC);
	CHECK_INT_EQ(unlink(path), 0);
	CHECK_INT_EQ(crit_client_spawn(&program), -ENOENT);
	CHECK_INT_EQ(sigprocmask(SIG_SETMASK, NULL, &mask), 0);
	CHECK(!sigismember(&mask, SIGTERM));
}

int main(void)
{
	const struct sigaction counted = { .sa_handler = on_child };

	CHECK_INT_EQ(sigaction(SIGCHLD, &counted, NULL), 0);
	check_started();
	check_pages_stay();
	check_refused();
	return check_done();
}
