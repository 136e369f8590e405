/* SPDX-License-Identifier: BSD-3-Clause */
/* The regions of this process, as a thread's recording needs them. */
#ifndef CRIT_SHIM_REGION_H
#define CRIT_SHIM_REGION_H

#include "core/shim/shim_span.h"

/* By number: is its REGION slot written? */
extern CRIT_HIDDEN _Atomic uint8_t crit_region_known[CRIT_REGIONS_MAX];

/* Writes the REGION slots that the region and those around it lack, as far as there is room. */
CRIT_HIDDEN void crit_region_introduce(struct crit_shim_thread *thread, uint32_t region);

static inline bool crit_region_is_known(uint32_t region)
{
	return atomic_load_explicit(&crit_region_known[region], memory_order_relaxed);
}

#endif
