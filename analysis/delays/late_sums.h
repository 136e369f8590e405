/* SPDX-License-Identifier: BSD-3-Clause */
/* What late threads did longer than those who waited for them, added up to the delay of buckets. */
#ifndef CRIT_LATE_SUMS_H
#define CRIT_LATE_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/delays/delays.h"

struct crit_late_excess { /* of all meetings, or messages to one, to which a thread was late */
	uint32_t bucket; /* that it came in */
	uint32_t code; /* that it did longer; CRIT_NONE: all together, of which no more counts */
	uint32_t partner; /* who waited for a message; CRIT_NONE: at meetings */
	double ns;
};

struct crit_late_sums { /* borrowed */
	const struct crit_delay_options *options;
	const struct crit_late_excess *rows;
	size_t count;
	const uint32_t *wakers; /* of each thread, who may have done its code; CRIT_NONE: nobody */
};

/* Adds them to the delays' buckets.  Errors: -ENOMEM.  Cost: O(rows * log rows). */
int crit_late_sums_put(const struct crit_late_sums *sums, struct crit_delays *delays);

#endif
