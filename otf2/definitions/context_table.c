// SPDX-License-Identifier: BSD-3-Clause
// Finds contexts by what they are called in; names of frames are looked up as they come.
#include "otf2/definitions/context_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/hash.h"
#include "core/base/index.h"
#include "core/base/map.h"

#define FRAMES_MAX 4096u /* of a path; the outermost beyond it are left out */
#define NAME_BYTES 300
#define SHIM_NAME "libcrit_pmpi" /* its frame is the border between a program and MPI */

struct archive_context {
	uint32_t parent, depth;
	uint32_t region; /* of a frame, once all events are written; else provisional */
	uint32_t name; /* string; CRIT_NONE: no frame */
	uint32_t file; /* string; CRIT_NONE unknown */
	uint32_t line;
	uint32_t source; /* source code location, CRIT_NONE */
};

struct archive_source { /* a source code location */
	uint32_t file, line;
};

struct crit_otf2_contexts {
	struct crit_otf2_context_tables tables;
	crit_otf2_frame_place *place;
	void *user;
	struct archive_context *rows;
	size_t count, capacity;
	struct crit_index numbers; /* by all but depth */
	struct crit_map paths; /* context below which, path of the tree -> context */
	struct archive_source *sources;
	size_t source_count, source_capacity;
	uint32_t clock_name; /* string */
	uint64_t period_sum_ns, period_count;
	uint32_t path[FRAMES_MAX]; /* the one at hand, innermost first */
};

struct crit_otf2_contexts *crit_otf2_contexts_create(const struct crit_otf2_context_tables *tables,
						     crit_otf2_frame_place *place, void *user)
{
	struct crit_otf2_contexts *contexts = calloc(1, sizeof(*contexts));

	if (contexts) {
		contexts->tables = *tables;
		contexts->place = place;
		contexts->user = user;
	}
	return contexts;
}

void crit_otf2_contexts_destroy(struct crit_otf2_contexts *contexts)
{
	if (!contexts)
		return;
	crit_index_fini(&contexts->numbers);
	crit_map_fini(&contexts->paths);
	free(contexts->rows);
	free(contexts->sources);
	free(contexts);
}

static bool is_same(const struct archive_context *a, const struct archive_context *b)
{
	return a->parent == b->parent && a->region == b->region && a->name == b->name &&
	       a->file == b->file && a->line == b->line;
}

/* Finds the context, or adds it.  Errors: CRIT_NONE. */
static uint32_t obtain(struct crit_otf2_contexts *contexts, const struct archive_context *wanted)
{
	uint64_t hash = crit_hash_mix(crit_hash_mix((uint64_t)wanted->parent << 32 | wanted->region,
						    (uint64_t)wanted->name << 32 | wanted->file),
				      wanted->line);
	struct crit_probe probe;
	uint32_t i = crit_index_first(&contexts->numbers, hash, &probe);
	struct archive_context *row;

	while (i != CRIT_NONE && !is_same(&contexts->rows[i], wanted))
		i = crit_index_next(&contexts->numbers, &probe);
	if (i != CRIT_NONE)
		return i;
	if (crit_array_grow(&contexts->rows, &contexts->capacity, contexts->count + 1,
			    sizeof(*contexts->rows)) ||
	    crit_index_put(&contexts->numbers, hash, (uint32_t)contexts->count))
		return CRIT_NONE;
	row = &contexts->rows[contexts->count];
	*row = *wanted;
	row->depth = row->parent == CRIT_NONE ? 1 : contexts->rows[row->parent].depth + 1;
	return (uint32_t)contexts->count++;
}

uint32_t crit_otf2_contexts_enter(struct crit_otf2_contexts *contexts, uint32_t parent,
				  uint32_t region)
{
	return obtain(contexts, &(struct archive_context){ .parent = parent,
							   .region = region,
							   .name = CRIT_NONE,
							   .file = CRIT_NONE,
							   .source = CRIT_NONE });
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* One level of a frame.  Errors: CRIT_NONE. */
static uint32_t add_level(struct crit_otf2_contexts *contexts, uint32_t parent, const char *name,
			  const char *file, uint32_t line)
{
	struct crit_otf2_strings *strings = contexts->tables.strings;
	struct archive_context wanted = { .parent = parent,
					  .region = CRIT_NONE,
					  .name = crit_otf2_string(strings, name),
					  .file = file ? crit_otf2_string(strings, file)
						       : CRIT_NONE,
					  .line = file ? line : 0,
					  .source = CRIT_NONE };

	if (wanted.name == CRIT_NONE || (file && wanted.file == CRIT_NONE))
		return CRIT_NONE;
	return obtain(contexts, &wanted);
}

/* A frame below parent, with what was inlined into it.  Errors: CRIT_NONE. */
static uint32_t add_frame(struct crit_otf2_contexts *contexts, uint32_t parent,
			  const struct crit_source_location *place)
{
	uint32_t context = parent;
	char text[NAME_BYTES] = "[in no known file]";

	if (place->module)
		(void)snprintf(text, sizeof(text), "[%s]", file_name(place->module));
	if (!place->frame_count)
		return add_level(contexts, parent, place->function ? place->function : text,
				 place->file, place->line);
	for (uint32_t i = place->frame_count;
	     i-- && (i + 1 == place->frame_count || context != CRIT_NONE);) {
		const struct crit_source_frame *frame = &place->frames[i];

		context = add_level(contexts, context, frame->function ? frame->function : text,
				    frame->file, frame->line);
	}
	return context;
}

static uint64_t path_key(uint32_t base, uint32_t path)
{
	return (uint64_t)base << 32 | path;
}

static bool is_shim(const struct crit_call_tree *tree, const struct crit_path_row *row)
{
	return row->file != CRIT_NONE &&
	       strncmp(file_name(tree->files[row->file]), SHIM_NAME, strlen(SHIM_NAME)) == 0;
}

/* The context of a sample's caller below base.  Errors: CRIT_NONE. */
static uint32_t add_path(struct crit_otf2_contexts *contexts, uint32_t base, bool is_in_call,
			 const struct crit_call_tree *tree, uint32_t path)
{
	uint32_t context = CRIT_NONE, depth = 0;

	for (; path >= CRIT_PATH_FIRST && depth < FRAMES_MAX; path = tree->rows[path].parent) {
		context = crit_map_get(&contexts->paths, path_key(base, path));
		if (context != CRIT_NONE || (is_in_call && is_shim(tree, &tree->rows[path])))
			break;
		contexts->path[depth++] = path;
	}
	if (context == CRIT_NONE)
		context = base;
	while (depth-- && context != CRIT_NONE) {
		const struct crit_path_row *row = &tree->rows[contexts->path[depth]];
		struct crit_source_location place = { .offset = row->offset };

		if (row->file != CRIT_NONE)
			place.module = tree->files[row->file];
		if (place.module && contexts->place)
			contexts->place(contexts->user, place.module, row->offset, &place);
		context = add_frame(contexts, context, &place);
		if (context != CRIT_NONE &&
		    crit_map_set(&contexts->paths, path_key(base, contexts->path[depth]), context))
			return CRIT_NONE;
	}
	return context;
}

uint32_t crit_otf2_contexts_sample(struct crit_otf2_contexts *contexts, uint32_t base,
				   uint32_t group, const struct crit_trace_sample *sample)
{
	bool is_in_call =
		base != CRIT_NONE && contexts->rows[base].parent != CRIT_NONE &&
		crit_otf2_regions_is_call(contexts->tables.regions, contexts->rows[base].region);
	struct crit_source_location place = { 0 };
	uint32_t caller = add_path(contexts, base, is_in_call, &sample->tree, sample->path);

	contexts->period_sum_ns += sample->period_ns;
	contexts->period_count += sample->period_ns != 0;
	if (caller == CRIT_NONE && base != CRIT_NONE)
		return CRIT_NONE;
	(void)crit_otf2_call_sites_place(contexts->tables.call_sites, group, sample->address,
					 &place);
	return add_frame(contexts, caller, &place);
}

uint32_t crit_otf2_contexts_parent(const struct crit_otf2_contexts *contexts, uint32_t context)
{
	return context == CRIT_NONE ? CRIT_NONE : contexts->rows[context].parent;
}

static uint32_t depth_of(const struct crit_otf2_contexts *contexts, uint32_t context)
{
	return context == CRIT_NONE ? 0 : contexts->rows[context].depth;
}

uint32_t crit_otf2_contexts_distance(const struct crit_otf2_contexts *contexts, uint32_t before,
				     uint32_t now)
{
	uint32_t distance = 1;

	while (before != now) {
		bool is_left = depth_of(contexts, before) >= depth_of(contexts, now);
		bool is_new = depth_of(contexts, now) >= depth_of(contexts, before);

		if (is_left)
			before = contexts->rows[before].parent;
		if (is_new)
			now = contexts->rows[now].parent;
		distance += is_new;
	}
	return distance;
}

/* Numbers its source code location.  Errors: -ENOMEM. */
static int find_source(struct crit_otf2_contexts *contexts, struct crit_map *known,
		       struct archive_context *row)
{
	uint64_t key = (uint64_t)row->file << 32 | row->line;

	row->source = crit_map_get(known, key);
	if (row->source != CRIT_NONE)
		return 0;
	if (crit_array_grow(&contexts->sources, &contexts->source_capacity,
			    contexts->source_count + 1, sizeof(*contexts->sources)))
		return -ENOMEM;
	row->source = (uint32_t)contexts->source_count;
	contexts->sources[contexts->source_count++] =
		(struct archive_source){ row->file, row->line };
	return crit_map_set(known, key, row->source);
}

int crit_otf2_contexts_name(struct crit_otf2_contexts *contexts)
{
	struct crit_map known = { 0 };
	int rc = 0;

	contexts->clock_name = crit_otf2_string(contexts->tables.strings, "cpu-clock");
	if (contexts->clock_name == CRIT_NONE)
		rc = -ENOMEM;
	for (size_t i = 0; i < contexts->count && !rc; i++) {
		struct archive_context *row = &contexts->rows[i];

		if (row->name == CRIT_NONE)
			continue;
		row->region =
			crit_otf2_regions_function(contexts->tables.regions, row->name, row->file);
		if (row->region == CRIT_NONE)
			rc = -ENOMEM;
		else if (row->line)
			rc = find_source(contexts, &known, row);
	}
	crit_map_fini(&known);
	return rc;
}

OTF2_ErrorCode crit_otf2_contexts_write(const struct crit_otf2_contexts *contexts,
					OTF2_GlobalDefWriter *global,
					uint32_t (*final)(const void *user, uint32_t region),
					const void *user)
{
	uint64_t period_ns =
		contexts->period_count ? contexts->period_sum_ns / contexts->period_count : 0;
	OTF2_ErrorCode code = OTF2_GlobalDefWriter_WriteInterruptGenerator(
		global, CRIT_OTF2_SAMPLING_CLOCK, contexts->clock_name,
		OTF2_INTERRUPT_GENERATOR_MODE_TIME, OTF2_BASE_DECIMAL, -9, period_ns);

	for (uint32_t i = 0; i < contexts->source_count && code == OTF2_SUCCESS; i++)
		code = OTF2_GlobalDefWriter_WriteSourceCodeLocation(
			global, i, contexts->sources[i].file, contexts->sources[i].line);
	for (uint32_t i = 0; i < contexts->count && code == OTF2_SUCCESS; i++) {
		const struct archive_context *row = &contexts->rows[i];

		code = OTF2_GlobalDefWriter_WriteCallingContext(
			global, i, row->name == CRIT_NONE ? final(user, row->region) : row->region,
			row->source, row->parent);
	}
	return code;
}
