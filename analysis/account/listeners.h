/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events of the replay, and the table of their listeners.
 *
 * The account takes an event first; listeners are called after it, in the order they were added.
 * Per kind there is one array of those that want it, so an event nobody wants costs one comparison.
 */
#ifndef CRIT_LISTENERS_H
#define CRIT_LISTENERS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/schema/edge.h"

#define CRIT_LISTENERS_MAX 4u

enum crit_event_kind {
	CRIT_EVENT_THREAD = 0, /* its kernel state or its part of the window is another */
	CRIT_EVENT_ENTER, /* arg: calls merged into this poll span */
	CRIT_EVENT_LEAVE, /* one span or several have ended */
	CRIT_EVENT_BASE_ENDS, /* the class of its time outside all spans is about to change */
	CRIT_EVENT_BASE_BEGINS, /* and has */
	CRIT_EVENT_RELEASE, /* of a lock; call: as the wait for it; arg: the lock */
	CRIT_EVENT_TASK, /* made or put aside; call: enum crit_omp_task_note; arg: its number */
	CRIT_EVENT_FINALIZE_ENTER, /* of MPI_Finalize beyond the cut of its node; arg: call site */
	CRIT_EVENT_FINALIZE_LEAVE,
	CRIT_EVENT_EDGE, /* + enum crit_edge_kind; edge: it */
	CRIT_EVENT_KIND_COUNT = CRIT_EVENT_EDGE + CRIT_EDGE_KIND_COUNT
};

struct crit_event {
	uint64_t time_ns; /* run clock */
	union {
		uint64_t arg;
		const struct crit_edge *edge; /* borrowed until the listener returns */
	};
	uint32_t thread;
	uint16_t call;
};

struct crit_listener {
	void *user;
	/* By enum crit_event_kind; NULL: not wanted.  Errors: the first one ends the replay. */
	int (*on[CRIT_EVENT_KIND_COUNT])(void *user, const struct crit_event *event);
};

struct crit_listeners {
	struct crit_handler {
		int (*on)(void *user, const struct crit_event *event);
		void *user;
	} handlers[CRIT_EVENT_KIND_COUNT][CRIT_LISTENERS_MAX];
	uint32_t counts[CRIT_EVENT_KIND_COUNT];
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

/* Is an edge of this kind wanted?  Else nothing need be kept for it. */
static inline bool crit_listeners_want(const struct crit_listeners *listeners,
				       enum crit_edge_kind kind)
{
	return listeners->counts[CRIT_EVENT_EDGE + kind] != 0;
}

/* An edge whose waiter and cause are threads; listeners get them as rows. */
void crit_listeners_tell_edge(struct crit_listeners *listeners, const struct crit_edge *edge);

#endif
