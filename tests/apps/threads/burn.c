// SPDX-License-Identifier: BSD-3-Clause
// Uses CPU time in itself and in a child, and says as whom: setuid, it is not to be watched.
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "tests/apps/work.h"

int main(int argc, char **argv)
{
	int64_t ms = argc > 1 ? strtoll(argv[1], NULL, 10) : 100;
	pid_t pid;

	pid = fork();
	if (pid < 0)
		return 1;
	work_for_ns(ms * 1000000);
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	printf("pid %d child %d euid %d\n", (int)getpid(), (int)pid, (int)geteuid());
	return 0;
}
