/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenMP regions and phases of all processes: their descriptions, and the idle time of their teams.
 */
#ifndef CRIT_REGIONS_H
#define CRIT_REGIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/map.h"
#include "core/abi/abi_slot.h"

struct crit_region {
	uint32_t process;
	uint32_t number; /* 1 .. CRIT_REGIONS_MAX - 1 */
	uint32_t parent; /* number, 0 none */
	uint32_t call; /* 0: nobody said */
	uint64_t site;
	uint64_t caller; /* as in struct crit_slot_region */
	char *name; /* of a phase, NULL else */
	uint32_t team_max;
	uint64_t scheduling_ns;
	uint64_t imbalance_ns;
	uint64_t runnable_ns;
};

struct crit_regions {
	struct crit_region *rows;
	size_t count, capacity;
	struct crit_map places; /* process, number -> index into rows */
};

/* The row of a number, made when new.  Errors: -ENOENT outside the range, -ENOMEM, or its index. */
int64_t crit_regions_get(struct crit_regions *regions, uint32_t process, uint32_t number);

/* Takes a definition; the first one counts.  name: bytes of it.  Errors: -ENOMEM. */
int crit_regions_define(struct crit_regions *regions, uint32_t process,
			const struct crit_slot_region *slot, const char *name, size_t name_bytes);

/*
 * The code address of a region, or of the nearest one around it that has one (a phase has none);
 * 0 unknown.  Cost: O(nesting).
 */
uint64_t crit_regions_call_site(const struct crit_regions *regions, uint32_t process,
				uint32_t number);

void crit_regions_fini(struct crit_regions *regions);

#endif
