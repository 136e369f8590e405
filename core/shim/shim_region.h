/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions of this process: code in which a construct or phase is begun, numbered without a lock. */
#ifndef CRIT_SHIM_REGION_H
#define CRIT_SHIM_REGION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "core/abi/abi_shim.h"

struct crit_shim_thread;

#pragma GCC visibility push(default)

/*
 * The number of the region that a construct (call, code address) or phase (name) is, begun in the
 * region parent; in the recording from its first span on.  Of a construct that
 * is begun inside itself, as recursion does, the number is that of the outer one.
 * caller: what the call that begins it returns to, where site is another place; else NULL.
 * Range: the parent's own number when there are too many.  Cost: a look into a table; no lock, no
 * allocation.
 */
uint32_t crit_shim_region(uint32_t call, const void *site, const void *caller, uint32_t parent);
uint32_t crit_shim_phase(const char *name, uint32_t parent);

#pragma GCC visibility pop

/* Inside libcrit_core.so. */
#pragma GCC visibility push(hidden)

/* By number: is its REGION slot written? */
extern _Atomic uint8_t crit_region_known[CRIT_REGIONS_MAX];

/* Writes the REGION slots that the region and those around it lack, as far as there is room. */
void crit_region_introduce(struct crit_shim_thread *thread, uint32_t region);

/* The recording of a fork's child has no REGION slot. */
void crit_region_forget_slots(void);

#pragma GCC visibility pop

static inline bool crit_region_is_known(uint32_t region)
{
	return atomic_load_explicit(&crit_region_known[region], memory_order_relaxed);
}

#endif
