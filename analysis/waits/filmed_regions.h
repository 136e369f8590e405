/* SPDX-License-Identifier: BSD-3-Clause */
/* The last parallel regions of each process, for workers that wait for the next one. */
#ifndef CRIT_FILMED_REGIONS_H
#define CRIT_FILMED_REGIONS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/schema/results.h"

struct crit_filmed_region { /* an instance of it: its primary thread entered it */
	uint64_t number, begin_ns;
	uint64_t site; /* as its primary thread's span has it */
	uint32_t primary;
};

struct crit_filmed_regions { /* zeroed: empty */
	struct crit_filmed_process **rows; /* by the row of the first thread; NULL: no region */
	uint32_t *processes; /* of each thread, the row of the first one of its process */
	size_t thread_count;
};

/* Errors: -ENOMEM. */
int crit_filmed_regions_init(struct crit_filmed_regions *regions, const struct crit_results *run);
void crit_filmed_regions_fini(struct crit_filmed_regions *regions);

/* A primary thread enters an instance.  Errors: -ENOMEM. */
int crit_filmed_regions_enter(struct crit_filmed_regions *regions,
			      const struct crit_filmed_region *entered);

/* The instance of the thread's process, or with 0 the last one; NULL: not known, or no more. */
const struct crit_filmed_region *crit_filmed_regions_find(const struct crit_filmed_regions *regions,
							  uint32_t thread, uint64_t number);

#endif
