// SPDX-License-Identifier: BSD-3-Clause
// Adds descriptors to the epoll set, with their kind and index as data, and takes them out.
#include "collector/system/watch.h"

#include <errno.h>
#include <stddef.h>
#include <sys/epoll.h>

int crit_watch_add(int epoll_fd, int fd, enum crit_watch_kind kind, uint32_t index)
{
	struct epoll_event event = { .events = EPOLLIN };

	event.data.u64 = (uint64_t)kind << 32 | index;
	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

void crit_watch_remove(int epoll_fd, int fd)
{
	/* closing alone leaves the entry when somebody else holds a duplicate */
	(void)epoll_ctl(epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}
