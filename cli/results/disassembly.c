// SPDX-License-Identifier: BSD-3-Clause
// Starts objdump with a pipe for what it prints.
#include "cli/results/disassembly.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int start(const char *const *arguments, int out, pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	int error = posix_spawn_file_actions_init(&actions);

	if (error)
		return error;
	error = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	if (!error)
		error = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
							 O_WRONLY, 0);
	if (!error)
		error = posix_spawnp(ret_pid, arguments[0], &actions, NULL,
				     (char *const *)arguments, environ);
	(void)posix_spawn_file_actions_destroy(&actions);
	return error;
}

FILE *crit_disassembly_open(void *pid, const char *module, uint64_t begin, uint64_t end)
{
	char from[48], to[48];
	const char *const arguments[] = { "objdump", "-d",   "-C", "--no-show-raw-insn", from, to,
					  "--",      module, NULL };
	int ends[2];
	FILE *in;

	(void)snprintf(from, sizeof(from), "--start-address=0x%llx", (unsigned long long)begin);
	(void)snprintf(to, sizeof(to), "--stop-address=0x%llx", (unsigned long long)end);
	if (pipe2(ends, O_CLOEXEC))
		return NULL;
	errno = start(arguments, ends[1], pid);
	close(ends[1]);
	in = errno ? NULL : fdopen(ends[0], "r");
	if (!in)
		close(ends[0]);
	return in;
}

void crit_disassembly_close(void *pid, FILE *in)
{
	fclose(in);
	(void)waitpid(*(pid_t *)pid, NULL, 0);
}
