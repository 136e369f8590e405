/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Planned events of the replay, known from the index pass: windows that open and close, threads no
 * record begins or ends, CPUs that threads got unseen.
 */
#ifndef CRIT_PLANNED_EVENTS_H
#define CRIT_PLANNED_EVENTS_H

#include <stdint.h>

struct crit_model;

enum crit_planned_event_kind { /* at equal times, in this order */
	CRIT_AT_BIRTH = 0, /* index: an assumed thread */
	CRIT_AT_OPEN, /* index: a part */
	CRIT_AT_CLOSE,
	CRIT_AT_RETURN, /* index into returns: a thread that runs or ran, if it is runnable */
	CRIT_AT_DEATH /* index: a thread that nothing ended before */
};

struct crit_planned_event {
	uint64_t time_ns;
	uint32_t index;
	uint32_t kind;
};

struct crit_planned_events;

/* Errors: NULL when out of memory.  destroy accepts NULL. */
struct crit_planned_events *crit_planned_events_create(const struct crit_model *model);
void crit_planned_events_destroy(struct crit_planned_events *planned);

/* The next event, or NULL at the end.  Borrowed. */
const struct crit_planned_event *
crit_planned_events_front(const struct crit_planned_events *planned);
void crit_planned_events_pop(struct crit_planned_events *planned);

#endif
