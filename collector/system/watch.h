/* SPDX-License-Identifier: BSD-3-Clause */
/* The epoll set of the main loop: which descriptors are in it, and what they are. */
#ifndef CRIT_COLLECTOR_WATCH_H
#define CRIT_COLLECTOR_WATCH_H

#include <stdint.h>

enum crit_watch_kind {
	CRIT_WATCH_NONE = 0,
	CRIT_WATCH_LISTENER = 1,
	CRIT_WATCH_TIMER = 2,
	CRIT_WATCH_SIGNAL = 3,
	CRIT_WATCH_CLIENT = 4, /* index into clients; its place is free only after the round */
	CRIT_WATCH_PROCESS = 5, /* index into processes */
	CRIT_WATCH_FINISHER = 6, /* run slot */
	CRIT_WATCH_INSPECTED = 7,
	CRIT_WATCH_SOURCE = 8
};

/* Adds fd to the epoll set.  Errors: -errno. */
int crit_watch_add(int epoll_fd, int fd, enum crit_watch_kind kind, uint32_t index);

/* The same for what tells each time something comes, read or not.  Errors: -errno. */
int crit_watch_add_edge(int epoll_fd, int fd, enum crit_watch_kind kind);

/* Takes fd out of the set; before it is closed. */
void crit_watch_remove(int epoll_fd, int fd);

/* What the data of an event say. */
static inline enum crit_watch_kind crit_watch_kind_of(uint64_t data)
{
	return (enum crit_watch_kind)(data >> 32);
}

static inline uint32_t crit_watch_index_of(uint64_t data)
{
	return (uint32_t)data;
}

#endif
