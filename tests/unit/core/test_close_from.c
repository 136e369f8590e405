// SPDX-License-Identifier: BSD-3-Clause
// Descriptors are closed on kernels without close_range, too, and where /proc cannot be read.
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/symbols/elf_reader.h"
#include "core/base/close_from.h"
#include "tests/lib/check.h"

#define FIRST 20
#define HIGH 70000 /* beyond what is tried without /proc */

/* From here on these calls are unknown to the kernel. */
static bool forbid(unsigned int call, unsigned int other)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, other, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { .len = sizeof(filter) / sizeof(filter[0]),
					    .filter = filter };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* What a child's check returns is its exit status. */
static int in_child(int (*check)(int), int argument)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(check(argument));
	CHECK(waitpid(pid, &status, 0) == pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

/* 0: those from FIRST on are closed, and no others. */
static int closes(int has_high)
{
	for (int fd = FIRST - 2; fd < FIRST + 200; fd++)
		if (dup2(2, fd) != fd)
			return 1;
	if (has_high && dup2(2, HIGH) != HIGH)
		return 2;
	crit_close_from(FIRST);
	for (int fd = 0; fd < FIRST + 200; fd++)
		if ((fd < 3 || fd >= FIRST - 2) && is_open(fd) != (fd < FIRST))
			return 3;
	return is_open(HIGH) ? 4 : 0;
}

static int closes_without_call(int has_high)
{
	return forbid(SYS_close_range, SYS_close_range) ? closes(has_high) : 5;
}

static int closes_without_both(int has_high)
{
	return forbid(SYS_close_range, SYS_getdents64) ? closes(has_high) : 5;
}

/* The reader of names holds no pipe of the program's open: its other end sees the end. */
static int reader_closes(int unused)
{
	const struct crit_elf_reader_options options = { 0 };
	struct crit_elf_reader *reader = NULL;
	struct pollfd end = { 0 };
	int ends[2];
	int count;

	(void)unused;
	(void)setpgid(0, 0);
	if (!forbid(SYS_close_range, SYS_close_range) || pipe(ends) ||
	    crit_elf_reader_create(&options, &reader))
		return 5;
	close(ends[1]);
	end.fd = ends[0];
	count = poll(&end, 1, 5000);
	if (count != 1 || !(end.revents & POLLHUP))
		(void)kill(0, SIGKILL); /* it would not end by itself, either */
	crit_elf_reader_destroy(reader);
	return 0;
}

int main(void)
{
	struct rlimit limit;
	bool has_high = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max > HIGH;

	if (has_high) {
		limit.rlim_cur = limit.rlim_max;
		has_high = setrlimit(RLIMIT_NOFILE, &limit) == 0;
	}
	CHECK_INT_EQ(in_child(closes, has_high), 0);
	CHECK_INT_EQ(in_child(closes_without_call, has_high), 0);
	CHECK_INT_EQ(in_child(closes_without_both, 0), 0);
	CHECK_INT_EQ(in_child(reader_closes, 0), 0);
	return check_done();
}
