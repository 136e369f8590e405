// SPDX-License-Identifier: BSD-3-Clause
// Leaves the reason in the run's directory, else in the user's log.
#include "cli/results/no_report.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/cleanup.h"
#include "core/client/client_log.h"
#include "report/pages/report_files.h"

#define TEXT_BYTES (PATH_MAX + 512)

const char *crit_directory_name(int directory_fd, const char *otherwise, char ret_name[PATH_MAX])
{
	char link[32];
	ssize_t length;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", directory_fd);
	length = readlink(link, ret_name, PATH_MAX - 1);
	if (length <= 0)
		return otherwise;
	ret_name[length] = '\0';
	return ret_name;
}

void crit_directory_log(int directory_fd, const char *text)
{
	char name[PATH_MAX];

	crit_client_log(crit_directory_name(directory_fd, "a run", name), text);
}

/* In one write: all of it is there, or nothing. */
static bool put_file(int directory_fd, const char *text)
{
	const size_t length = strlen(text);
	crit_autoclose int fd = -1;

	/* Removed first: a planted link or a foreign file of that name is not written through. */
	(void)unlinkat(directory_fd, CRIT_NO_REPORT_NAME, 0);
	fd = openat(directory_fd, CRIT_NO_REPORT_NAME, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		    0666);
	if (fd < 0)
		return false;
	if (write(fd, text, length) == (ssize_t)length)
		return true;
	(void)unlinkat(directory_fd, CRIT_NO_REPORT_NAME, 0);
	return false;
}

void crit_no_report_write(int directory_fd, const char *reason)
{
	char text[TEXT_BYTES];
	char name[PATH_MAX];

	(void)snprintf(text, sizeof(text), "crit finish: no report: %s\nTry: crit report %s\n",
		       reason, crit_directory_name(directory_fd, ".", name));
	if (!put_file(directory_fd, text))
		crit_directory_log(directory_fd, reason);
}
