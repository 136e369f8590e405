/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of the replay, which a listener named in crit_analysis_options is told of. */
#ifndef CRIT_EVENT_H
#define CRIT_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/schema/edge.h"
#include "core/abi/abi_blocked.h"

enum crit_event_kind {
	/*
	 * Its kernel state or its part of the window is another; arg: ns that it was on CPUs in a
	 * state RUNNABLE which is over, as it is known now.
	 */
	CRIT_EVENT_THREAD = 0,
	CRIT_EVENT_ENTER, /* arg: calls merged into this poll span */
	CRIT_EVENT_LEAVE, /* one span or several have ended */
	CRIT_EVENT_BASE_ENDS, /* the class of its time outside all spans is about to change */
	CRIT_EVENT_BASE_BEGINS, /* and has */
	CRIT_EVENT_RELEASE, /* of a lock; call: as the wait for it; arg: the lock */
	CRIT_EVENT_TASK, /* made or put aside; call: enum crit_omp_task_note; arg: its number */
	CRIT_EVENT_FINALIZE_ENTER, /* of MPI_Finalize beyond the cut of its node; arg: call site */
	CRIT_EVENT_FINALIZE_LEAVE,
	/* it blocks, which CRIT_EVENT_THREAD tells next; system_call: NULL not told */
	CRIT_EVENT_BLOCK,
	CRIT_EVENT_SAMPLE, /* it was on a CPU when the sampling clock ticked; sample: the record */
	CRIT_EVENT_CAPTURE, /* where it is that is about to block; sample: the record */
	CRIT_EVENT_EDGE, /* + enum crit_edge_kind; edge: it */
	CRIT_EVENT_KIND_COUNT = CRIT_EVENT_EDGE + CRIT_EDGE_KIND_COUNT
};

struct crit_event {
	uint64_t time_ns; /* run clock */
	union {
		uint64_t arg;
		const struct crit_edge *edge; /* borrowed until the listener returns */
		const struct crit_kernel_sample *sample; /* borrowed likewise */
		const struct crit_kernel_call *system_call; /* likewise */
	};
	uint32_t thread;
	uint16_t call;
};

struct crit_listener {
	void *user;
	/* By enum crit_event_kind; NULL: not wanted.  Errors: the first one ends the replay. */
	int (*on[CRIT_EVENT_KIND_COUNT])(void *user, const struct crit_event *event);
	/*
	 * Events of a thread come soon, first not is_near and some events later is_near: time to
	 * fetch what is known of it, and what that leads to.  In large runs alone.  May be NULL.
	 */
	void (*soon)(void *user, uint32_t thread, bool is_near);
};

#endif
