// SPDX-License-Identifier: BSD-3-Clause
// Keeps what a command prints out of its own files, and tells where it could not be printed.
#include "cli/console/std_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/console/syntax.h"

void crit_std_files_take(void)
{
	int fd;

	do
		fd = open("/dev/null", O_PATH | O_CLOEXEC); /* the lowest that is free */
	while (fd >= STDIN_FILENO && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

int crit_std_files_end(const char *command, int code)
{
	errno = 0;
	if (!fflush(stdout) && !ferror(stdout))
		return code;
	if (code != CRIT_EXIT_OK && code != CRIT_EXIT_INCOMPLETE)
		return code; /* told already */
	fprintf(stderr, "crit%s%s: cannot write to stdout: %s\n", *command ? " " : "", command,
		strerror(errno ? errno : EIO));
	return CRIT_EXIT_FAILED;
}
