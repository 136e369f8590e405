/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of those who listen to events of the replay (schema/event.h).
 *
 * The account takes an event first; listeners are called after it, in the order they were added.
 * Per kind there is one array of those that want it, so an event nobody wants costs one comparison.
 */
#ifndef CRIT_LISTENERS_H
#define CRIT_LISTENERS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/schema/edge.h"
#include "analysis/schema/event.h"

#define CRIT_LISTENERS_MAX 4u

struct crit_listeners {
	struct crit_handler {
		int (*on)(void *user, const struct crit_event *event);
		void *user;
	} handlers[CRIT_EVENT_KIND_COUNT][CRIT_LISTENERS_MAX];
	uint32_t counts[CRIT_EVENT_KIND_COUNT];
	struct crit_soon_handler {
		void (*soon)(void *user, uint32_t thread, bool is_near);
		void *user;
	} soon[CRIT_LISTENERS_MAX];
	uint32_t soon_count;
	const uint32_t *thread_rows; /* of edges: thread -> row of threads; borrowed */
	int error; /* the first a listener answered */
};

/* Copied.  Errors: -ENOSPC. */
int crit_listeners_add(struct crit_listeners *listeners, const struct crit_listener *listener);

void crit_listeners_tell(struct crit_listeners *listeners, enum crit_event_kind kind,
			 const struct crit_event *event);

/* Cost: one comparison where nobody listens. */
static inline void crit_listeners_emit(struct crit_listeners *listeners, enum crit_event_kind kind,
				       const struct crit_event *event)
{
	if (listeners->counts[kind])
		crit_listeners_tell(listeners, kind, event);
}

/* Events of a thread come soon (schema/event.h). */
static inline void crit_listeners_tell_soon(const struct crit_listeners *listeners, uint32_t thread,
					    bool is_near)
{
	for (uint32_t i = 0; i < listeners->soon_count; i++)
		listeners->soon[i].soon(listeners->soon[i].user, thread, is_near);
}

/* Is an edge of this kind wanted?  Else nothing need be kept for it. */
static inline bool crit_listeners_want(const struct crit_listeners *listeners,
				       enum crit_edge_kind kind)
{
	return listeners->counts[CRIT_EVENT_EDGE + kind] != 0;
}

/* A SAMPLE or CAPTURE of the kernel half, of a thread.  Yields 0. */
int crit_listeners_tell_sample(struct crit_listeners *listeners, uint32_t thread,
			       const struct crit_kernel_sample *sample);

/* The thread blocks in this system call; NULL: not told. */
void crit_listeners_tell_block(struct crit_listeners *listeners, uint32_t thread, uint64_t time_ns,
			       const struct crit_kernel_call *system_call);

/* An edge whose waiter and cause are threads; they become rows, as listeners get them. */
void crit_listeners_tell_edge(struct crit_listeners *listeners, struct crit_edge *edge);

#endif
