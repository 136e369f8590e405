// SPDX-License-Identifier: BSD-3-Clause
// Closes descriptors by close_range, or one by one as /proc/self/fd names them.
#include "core/base/close_from.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WITHOUT_PROC_END 65536u

/* -1: not a number, "." or "..". */
static int number_of(const char *name)
{
	int number = 0;

	for (; *name; name++) {
		if (*name < '0' || *name > '9')
			return -1;
		number = number * 10 + (*name - '0');
	}
	return number;
}

/* The directory is in the order of numbers: what is closed does not move what follows. */
static bool close_listed(unsigned int first)
{
	const int directory = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_Alignas(struct dirent64) char entries[1024]; /* a stack may be small */
	long bytes = -1;

	if (directory < 0)
		return false;
	/* not readdir, which allocates */
	while ((bytes = syscall(SYS_getdents64, directory, entries, sizeof(entries))) > 0) {
		for (long at = 0; at < bytes;) {
			const struct dirent64 *entry = (const void *)(entries + at);
			const int fd = number_of(entry->d_name);

			at += entry->d_reclen;
			if (fd >= 0 && (unsigned int)fd >= first && fd != directory)
				close(fd);
		}
	}
	close(directory);
	return bytes == 0;
}

void crit_close_from(unsigned int first)
{
	if (syscall(SYS_close_range, first, ~0u, 0) == 0 || close_listed(first))
		return;
	for (unsigned int fd = first; fd < WITHOUT_PROC_END; fd++)
		close((int)fd);
}
