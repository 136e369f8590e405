/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Planned events of the replay, known from the index pass: windows that open and close, threads no
 * record begins or ends, CPUs that threads got unseen.
 */
#ifndef CRIT_PLANNED_EVENTS_H
#define CRIT_PLANNED_EVENTS_H

#include "analysis/model/model.h"

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

struct crit_planned_events {
	struct crit_planned_event *entries; /* sorted */
	size_t count, capacity;
	size_t at;
};

/* Errors: -ENOMEM. */
int crit_planned_events_init(struct crit_planned_events *planned, const struct crit_model *model);
void crit_planned_events_fini(struct crit_planned_events *planned);

#endif
