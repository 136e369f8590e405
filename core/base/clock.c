// SPDX-License-Identifier: BSD-3-Clause
// Reads what a time namespace added to this process's clock.
#include "core/base/clock.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/cleanup.h"

int64_t crit_clock_host_offset_ns(void)
{
	crit_autoclose int fd = open("/proc/self/timens_offsets", O_RDONLY | O_CLOEXEC);
	char text[256];
	ssize_t length = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);
	char *position, *end;
	long long seconds;

	if (length <= 0)
		return 0;
	text[length] = '\0';
	position = strstr(text, "monotonic"); /* "monotonic SECONDS NANOSECONDS" */
	if (!position)
		return 0;
	seconds = strtoll(position + strlen("monotonic"), &end, 10);
	return -(seconds * 1000000000 + strtoll(end, NULL, 10));
}
