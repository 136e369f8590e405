/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The maps of processes by time: a process opens and closes libraries, becomes another program, and
 * its number goes to another process.
 *
 * Maps hold from when they were first seen until they were last seen.  Between them and the next
 * ones, what both agree on.
 */
#ifndef CRIT_PROCESS_MAPS_H
#define CRIT_PROCESS_MAPS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/unwind/unwind_maps.h"
#include "core/base/index.h"

struct crit_mapped_process;

struct crit_process_maps { /* zeroed: none */
	struct crit_mapped_process *processes;
	size_t process_count, process_capacity;
	struct crit_index numbers; /* of processes, by pid */
	uint64_t use_count;
	size_t mapping_count; /* of all, kept by now */
	uint32_t process_max; /* 0: CRIT_PROCESS_MAPS_MAX */
	size_t mapping_max; /* 0: CRIT_PROCESS_MAPPINGS_MAX */
	uint64_t forgotten_count; /* maps that were dropped to make room */
};

#define CRIT_PROCESS_MAPS_MAX 4096u
#define CRIT_PROCESS_MAPPINGS_MAX (2u << 20) /* 64 MiB */

/*
 * Takes in the maps of a process as they were at time_ns, in order of time; earlier ones count as
 * if seen with the last.  Whose maps were not looked up for longest are forgotten for room.
 * Range: any bytes.  Errors: as crit_unwind_maps_add; nothing changes.
 */
int crit_process_maps_add(struct crit_process_maps *maps, struct crit_mapped_files *files,
			  uint32_t pid, uint64_t time_ns, const char *text, size_t text_bytes);

/*
 * What is known of a process at a time; empty maps where nothing is.  Borrowed until the next call.
 * Before the first maps of a process these hold, and behind the last ones those.
 */
const struct crit_unwind_maps *crit_process_maps_find(struct crit_process_maps *maps, uint32_t pid,
						      uint64_t time_ns);

void crit_process_maps_fini(struct crit_process_maps *maps);

#endif
