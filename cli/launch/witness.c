// SPDX-License-Identifier: BSD-3-Clause
// Nothing in siginfo says whether kill() named a process or its group.  So a second process of our
// group keeps every signal pending: what it has got as well, the group got.
#include "cli/launch/witness.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static _Noreturn void testify(int fd)
{
	const struct timespec at_once = { 0 };
	unsigned char number;

	/* who looks for crit by name, as pkill does, means crit and not its witness */
	(void)prctl(PR_SET_NAME, "group-witness");
	memset(program_invocation_name, 0, strlen(program_invocation_name));
	while (recv(fd, &number, sizeof(number), 0) == (ssize_t)sizeof(number)) {
		sigset_t one;
		bool is_seen;

		(void)sigemptyset(&one);
		(void)sigaddset(&one, number);
		is_seen = sigtimedwait(&one, NULL, &at_once) == number;
		if (send(fd, &is_seen, sizeof(is_seen), MSG_NOSIGNAL) < 0)
			break;
	}
	_exit(0);
}

void crit_witness_init(struct crit_witness *witness)
{
	const struct timeval patience = { .tv_sec = 1 }; /* somebody may stop the witness alone */
	sigset_t all;
	sigset_t old_mask;
	int pair[2];

	*witness = (struct crit_witness){ .fd = -1 };
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return;
	(void)setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	(void)sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all,
			  &old_mask); /* the witness never takes one by surprise */
	witness->pid = fork();
	if (witness->pid == 0) {
		close(pair[0]);
		testify(pair[1]);
	}
	(void)sigprocmask(SIG_SETMASK, &old_mask, NULL);
	close(pair[1]);
	witness->fd = pair[0];
	if (witness->pid < 0)
		crit_witness_fini(witness);
}

bool crit_witness_saw(struct crit_witness *witness, int number)
{
	const unsigned char question = (unsigned char)number;
	bool is_seen = false;

	if (witness->pid <= 0)
		return false;
	/*
	 * A group is signalled under the kernel's task list lock, one process after the other.
	 * setpgid, here to the group we have, takes that lock too: when it is back, all have it.
	 */
	(void)setpgid(0, getpgrp());
	if (send(witness->fd, &question, sizeof(question), MSG_NOSIGNAL) < 0 ||
	    recv(witness->fd, &is_seen, sizeof(is_seen), 0) != (ssize_t)sizeof(is_seen)) {
		crit_witness_fini(witness);
		return false;
	}
	return is_seen;
}

void crit_witness_fini(struct crit_witness *witness)
{
	if (witness->fd >= 0)
		close(witness->fd);
	if (witness->pid > 0) {
		(void)kill(witness->pid, SIGKILL);
		(void)waitpid(witness->pid, NULL, 0);
	}
	*witness = (struct crit_witness){ .fd = -1 };
}
