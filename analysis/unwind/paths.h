/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call paths as a tree: a path is a frame and the path of its caller, so that chains share what
 * they have in common, and a chain is one number.
 */
#ifndef CRIT_UNWIND_PATHS_H
#define CRIT_UNWIND_PATHS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/unwind/unwind.h"
#include "core/abi/abi_paths.h"
#include "core/base/index.h"

struct crit_path {
	uint64_t offset; /* of the frame, as in struct crit_unwind_frame */
	uint32_t file;
	uint32_t parent; /* the caller's path; of the outermost frame a number of CRIT_PATH_ENDS */
};

/* The first paths have no frame, as in recordings: there is one for each end of chains. */
#define CRIT_PATH_OF_END(end) (1u + (uint32_t)(end))
_Static_assert(CRIT_PATH_OF_END(CRIT_UNWIND_COMPLETE) == CRIT_PATH_COMPLETE, "complete");
_Static_assert(CRIT_PATH_OF_END(CRIT_UNWIND_CUT_MEMORY) == CRIT_PATH_CUT_MEMORY, "cut: memory");
_Static_assert(CRIT_PATH_OF_END(CRIT_UNWIND_CUT_NO_CFI) == CRIT_PATH_CUT_CFI, "cut: no CFI");
_Static_assert(CRIT_PATH_OF_END(CRIT_UNWIND_CUT_MAPS) == CRIT_PATH_CUT_MAPS, "cut: maps");
_Static_assert(CRIT_PATH_OF_END(CRIT_UNWIND_END_COUNT) == CRIT_PATH_FIRST, "roots of paths");

struct crit_paths {
	struct crit_path *paths; /* parents before children; from CRIT_PATH_FIRST on */
	size_t path_count, path_capacity; /* 0: none were added */
	struct crit_index numbers;
	uint32_t path_max; /* no more of them than this; 0: CRIT_PATHS_MAX */
	uint64_t dropped_count; /* chains for which there was no room */
};

#define CRIT_PATHS_MAX (1u << 22)

/*
 * The path of a chain's frames from the outermost one on, without the innermost left_out ones: a
 * sample has the instruction it was taken at itself.
 * Range: zeroed paths are empty.  Returns CRIT_PATH_NONE, and counts, where there is no room.
 * Cost: a search per frame.  Ownership: crit_paths_fini.
 */
uint32_t crit_paths_add(struct crit_paths *paths, const struct crit_unwind_chain *chain,
			uint32_t left_out);
void crit_paths_fini(struct crit_paths *paths);

#endif
