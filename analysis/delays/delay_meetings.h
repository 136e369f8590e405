/* SPDX-License-Identifier: BSD-3-Clause */
/* Meetings that not all have come to yet: what those who came had done. */
#ifndef CRIT_DELAY_MEETINGS_H
#define CRIT_DELAY_MEETINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/delays/thread_profile.h"
#include "core/base/index.h"

struct crit_delay_meeting {
	uint32_t name; /* of its object in the film */
	uint32_t member_count; /* that came so far */
	uint32_t late; /* thread that the others waited for; CRIT_NONE: none so far */
	uint32_t late_bucket; /* that it was in until it came */
	bool is_over; /* the last one has come */
	double came_ns; /* from the window's begin, when each came, added up */
	double late_ns; /* likewise, when the late one did */
	struct crit_key_times late_times;
	struct crit_key_times sums; /* of all members */
};

struct crit_delay_meetings { /* zeroed: empty */
	struct crit_delay_meeting *rows;
	size_t count, capacity;
	struct crit_index names;
	uint32_t *unused;
	size_t unused_count, unused_capacity;
};

void crit_delay_meetings_fini(struct crit_delay_meetings *meetings);

/* That of a name, an empty one where there is none.  Errors: -ENOMEM. */
int crit_delay_meetings_obtain(struct crit_delay_meetings *meetings, uint32_t name,
			       uint32_t *ret_row);

void crit_delay_meetings_remove(struct crit_delay_meetings *meetings, uint32_t row);

#endif
