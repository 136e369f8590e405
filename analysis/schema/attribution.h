/* SPDX-License-Identifier: BSD-3-Clause */
/* The attribution of a segment: the integrals of docs/metric.md, integer until printed. */
#ifndef CRIT_ATTRIBUTION_H
#define CRIT_ATTRIBUTION_H

#include <stdint.h>

__extension__ typedef unsigned __int128 crit_fix; /* nanoseconds, 64.64 unsigned fixed point */

static inline double crit_fix_seconds(crit_fix value)
{
	return ((double)(uint64_t)(value >> 64) + (double)(uint64_t)value * 0x1p-64) * 1e-9;
}

enum crit_unit {
	CRIT_UNIT_THREADS = 0,
	CRIT_UNIT_RANKS,
	CRIT_UNIT_COUNT
};

/* The sums a set of segments earns.  Unit threads and ranks, scope run. */
struct crit_attribution {
	crit_fix cmetric[CRIT_UNIT_COUNT];
	crit_fix all_waiting[CRIT_UNIT_COUNT];
	crit_fix blame; /* others' waiting time, charged to these active segments */
	uint64_t waiting_ns; /* own waiting while somebody was active; sums as waited_for */
};

/* What segments are added up by; every table of the results is a sum over some of it. */
struct crit_bucket_key {
	uint64_t site;
	uint32_t thread;
	uint32_t region;
	uint16_t call;
	uint8_t span_class;
};

static inline void crit_attribution_add(struct crit_attribution *sum,
					const struct crit_attribution *more)
{
	for (int unit = 0; unit < CRIT_UNIT_COUNT; unit++) {
		sum->cmetric[unit] += more->cmetric[unit];
		sum->all_waiting[unit] += more->all_waiting[unit];
	}
	sum->blame += more->blame;
	sum->waiting_ns += more->waiting_ns;
}

#endif
