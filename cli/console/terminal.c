// SPDX-License-Identifier: BSD-3-Clause
// Asks the environment, then the terminal, for the width of a page.
#include "cli/console/terminal.h"

#include <stdlib.h>
#include <sys/ioctl.h>

#define COLUMNS_MAX 10000

int crit_terminal_columns(int fd)
{
	const char *wanted = getenv("COLUMNS");
	struct winsize size;
	char *end;

	if (wanted && *wanted) {
		long columns = strtol(wanted, &end, 10);

		if (!*end && columns > 0 && columns <= COLUMNS_MAX)
			return (int)columns;
	}
	return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}
