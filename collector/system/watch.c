// SPDX-License-Identifier: BSD-3-Clause
// Adds descriptors to the epoll set, with their kind and index as data, and takes them out.
#include "collector/system/watch.h"

#include <errno.h>
#include <stddef.h>
#include <sys/epoll.h>

static int add(int epoll_fd, int fd, uint32_t events, uint64_t data)
{
	struct epoll_event event = { .events = events, .data.u64 = data };

	return epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

int crit_watch_add(int epoll_fd, int fd, enum crit_watch_kind kind, uint32_t index)
{
	return add(epoll_fd, fd, EPOLLIN, (uint64_t)kind << 32 | index);
}

int crit_watch_add_edge(int epoll_fd, int fd, enum crit_watch_kind kind)
{
	return add(epoll_fd, fd, EPOLLIN | EPOLLET, (uint64_t)kind << 32);
}

void crit_watch_remove(int epoll_fd, int fd)
{
	/* closing alone leaves the entry when somebody else holds a duplicate */
	(void)epoll_ctl(epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}
