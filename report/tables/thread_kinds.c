// SPDX-License-Identifier: BSD-3-Clause
// Follows the call paths of samples to their outermost functions, and counts these by thread.
#include "report/tables/thread_kinds.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "report/tables/location_fit.h"

#define LEAST_SAMPLES 3u
#define KINDS_MAX 256u /* further ones are not known */
#define UNKNOWN 0u

struct kind {
	const char *module, *function;
	uint64_t samples; /* of the thread that is looked at */
};

struct kinds {
	const struct crit_results *results;
	const struct crit_region_finder *finder;
	struct kind list[KINDS_MAX]; /* the first one is UNKNOWN */
	uint32_t count;
	uint32_t *paths; /* kinds, by path; CRIT_NONE: of who is called so */
};

static bool begins_with_any(const char *module, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strncmp(crit_file_name(module), names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

bool crit_thread_kinds_is_runtime(const char *module)
{
	static const char *const names[] = { "libc.so", "libpthread", "libgomp",  "libomp",
					     "libiomp", "ld-linux",   "libstdc++" };

	return begins_with_any(module, names, sizeof(names) / sizeof(names[0]));
}

static bool is_interpreter(const char *module)
{
	static const char *const names[] = { "python", "libpython", "perl",  "libperl",
					     "ruby",   "libruby",   "libjvm" };

	return begins_with_any(module, names, sizeof(names) / sizeof(names[0]));
}

/* What code at a place makes of a thread whose outermost function is there; CRIT_NONE: nothing. */
static uint32_t kind_at(struct kinds *kinds, const struct crit_source_location *place)
{
	const char *function = place->frame_count ? place->frames[place->frame_count - 1].function
						  : place->function;

	if (!place->module || crit_thread_kinds_is_runtime(place->module))
		return CRIT_NONE;
	if (!function || is_interpreter(place->module))
		return UNKNOWN;
	for (uint32_t i = UNKNOWN + 1; i < kinds->count; i++)
		if (strcmp(kinds->list[i].function, function) == 0 &&
		    strcmp(kinds->list[i].module, place->module) == 0)
			return i;
	if (kinds->count == KINDS_MAX)
		return UNKNOWN;
	kinds->list[kinds->count] = (struct kind){ .module = place->module, .function = function };
	return kinds->count++;
}

/* Parents come first: what they say holds for all that is called from there. */
static void find_paths(struct kinds *kinds)
{
	const struct crit_sample_results *samples = &kinds->results->samples;

	for (size_t i = 0; i < samples->path_count; i++) {
		const struct crit_path_row *row = &samples->paths[i];
		struct crit_source_location place = { 0 };

		kinds->paths[i] = i < CRIT_PATH_FIRST ? CRIT_NONE : kinds->paths[row->parent];
		if (i < CRIT_PATH_FIRST || kinds->paths[i] != CRIT_NONE || row->file == CRIT_NONE)
			continue;
		place.module = samples->path_files[row->file];
		kinds->finder->find_in_file(kinds->finder->user, place.module, row->offset, &place);
		kinds->paths[i] = kind_at(kinds, &place);
	}
}

static uint32_t kind_of(struct kinds *kinds, const struct crit_sample_row *row)
{
	const struct crit_thread_row *thread = &kinds->results->threads[row->thread];
	struct crit_source_location place = { 0 };
	uint32_t kind = row->path < kinds->results->samples.path_count ? kinds->paths[row->path]
								       : CRIT_NONE;

	if (kind != CRIT_NONE)
		return kind;
	kinds->finder->find(kinds->finder->user, thread->node, thread->pid, row->address, &place);
	kind = kind_at(kinds, &place);
	return kind == CRIT_NONE ? UNKNOWN : kind;
}

/* The kind of most samples from row first on, which are those of a thread. */
static uint32_t majority_of(struct kinds *kinds, size_t first, size_t end)
{
	const struct crit_sample_row *rows = kinds->results->samples.rows;
	uint64_t all = 0;

	for (uint32_t i = 0; i < kinds->count; i++)
		kinds->list[i].samples = 0;
	for (size_t i = first; i < end; i++) {
		kinds->list[kind_of(kinds, &rows[i])].samples += rows[i].count;
		all += rows[i].count;
	}
	for (uint32_t i = UNKNOWN + 1; i < kinds->count && all >= LEAST_SAMPLES; i++)
		if (2 * kinds->list[i].samples > all)
			return i;
	return UNKNOWN;
}

uint32_t *crit_thread_kinds_of(const struct crit_results *results,
			       const struct crit_region_finder *finder)
{
	const struct crit_sample_results *samples = &results->samples;
	struct kinds *kinds = calloc(1, sizeof(*kinds));
	uint32_t *numbers = calloc(results->thread_count + 1, sizeof(*numbers));

	if (kinds)
		kinds->paths = calloc(samples->path_count + 1, sizeof(*kinds->paths));
	if (!numbers || !kinds || !kinds->paths) {
		free(numbers);
		numbers = NULL;
	} else if (finder->find && finder->find_in_file) {
		kinds->results = results;
		kinds->finder = finder;
		kinds->count = UNKNOWN + 1;
		find_paths(kinds);
		for (size_t i = 0, next; i < samples->row_count; i = next) {
			for (next = i + 1; next < samples->row_count; next++)
				if (samples->rows[next].thread != samples->rows[i].thread)
					break;
			numbers[samples->rows[i].thread] = majority_of(kinds, i, next);
		}
	}
	if (kinds)
		free(kinds->paths);
	free(kinds);
	return numbers;
}
