/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the survey fixed for certain times: parts that open and close, lives no record begins or
 * ends, CPUs that threads got unseen.
 */
#ifndef CRIT_SCHEDULE_H
#define CRIT_SCHEDULE_H

#include "analysis/model/model.h"

enum crit_appointment_kind { /* at equal times, in this order */
	CRIT_AT_BIRTH = 0, /* index: an assumed life */
	CRIT_AT_OPEN, /* index: a part */
	CRIT_AT_CLOSE,
	CRIT_AT_RETURN, /* index into returns: a life that runs or ran, if it is runnable */
	CRIT_AT_DEATH /* index: a life that nothing ended before */
};

struct crit_appointment {
	uint64_t time_ns;
	uint32_t index;
	uint32_t kind;
};

struct crit_schedule {
	struct crit_appointment *entries; /* sorted */
	size_t count, capacity;
	size_t at;
};

/* Errors: -ENOMEM. */
int crit_schedule_init(struct crit_schedule *schedule, const struct crit_model *model);
void crit_schedule_fini(struct crit_schedule *schedule);

#endif
