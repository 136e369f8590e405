// SPDX-License-Identifier: BSD-3-Clause
// Each step from a caller to the frame it calls is searched by hash, from the outermost frame on.
#include "analysis/unwind/paths.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_of(const struct crit_path *path)
{
	return crit_hash_mix(crit_hash_mix(path->offset, path->file), path->parent);
}

/* CRIT_PATH_NONE: no room. */
static uint32_t add(struct crit_paths *paths, const struct crit_path *path)
{
	const uint32_t path_max = paths->path_max ? paths->path_max : CRIT_PATHS_MAX;
	const uint64_t hash = hash_of(path);
	struct crit_probe probe;
	uint32_t number = crit_index_first(&paths->numbers, hash, &probe);

	while (number != CRIT_NONE && memcmp(&paths->paths[number], path, sizeof(*path)) != 0)
		number = crit_index_next(&paths->numbers, &probe);
	if (number != CRIT_NONE)
		return number;
	if (!paths->path_count)
		paths->path_count = CRIT_PATH_FIRST;
	number = (uint32_t)paths->path_count;
	if (number - CRIT_PATH_FIRST >= path_max ||
	    crit_array_grow(&paths->paths, &paths->path_capacity, paths->path_count + 1,
			    sizeof(*paths->paths)) ||
	    crit_index_put(&paths->numbers, hash, number))
		return CRIT_PATH_NONE;
	paths->paths[paths->path_count++] = *path;
	return number;
}

uint32_t crit_paths_add(struct crit_paths *paths, const struct crit_unwind_chain *chain,
			uint32_t left_out)
{
	uint32_t number = CRIT_PATH_OF_END(chain->end);

	for (uint32_t i = chain->frame_count; i-- > left_out;) {
		const struct crit_path path = { .offset = chain->frames[i].offset,
						.file = chain->frames[i].file,
						.parent = number };

		number = add(paths, &path);
		if (number == CRIT_PATH_NONE) {
			paths->dropped_count++;
			break;
		}
	}
	return number;
}

void crit_paths_fini(struct crit_paths *paths)
{
	free(paths->paths);
	crit_index_fini(&paths->numbers);
	memset(paths, 0, sizeof(*paths));
}
