// SPDX-License-Identifier: BSD-3-Clause
// Installed setuid root by test_trust: sleeps, forks, and must never be seen.
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(void)
{
	const struct timespec pause = { 0, 5000000 };
	pid_t child;

	if (geteuid() != 0)
		return 3;
	for (int i = 0; i < 200; i++)
		(void)nanosleep(&pause, NULL);
	child = fork();
	if (child == 0)
		_exit(0);
	(void)waitpid(child, NULL, 0);
	return 0;
}
