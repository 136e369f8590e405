// SPDX-License-Identifier: BSD-3-Clause
// Regions of OpenMP constructs and of the user's phases: one per kind and source location, or name.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/call.h"
#include "core/base/hash.h"
#include "otf2/together.h"

#define NAME_BYTES 256
#define PID_BITS 22u
#define REGION_BITS 20u

int crit_otf2_add_construct(struct crit_otf2_writer *writer,
			    const struct crit_otf2_construct *construct)
{
	struct crit_otf2_openmp *openmp = &writer->openmp;
	struct crit_otf2_group *group = &writer->groups[construct->group];
	uint32_t index = (uint32_t)openmp->construct_count;
	struct crit_otf2_construct add = *construct;

	add.next = group->first_construct;
	if (crit_array_grow(&openmp->constructs, &openmp->construct_capacity, index + 1u,
			    sizeof(*openmp->constructs)))
		return -ENOMEM;
	openmp->constructs[openmp->construct_count++] = add;
	group->first_construct = index;
	group->construct_count++;
	return 0;
}

static uint32_t add_construct(struct crit_otf2_writer *writer,
			      const struct crit_otf2_construct *like, uint64_t hash)
{
	struct crit_otf2_openmp *openmp = &writer->openmp;
	const struct crit_otf2_group *group = &writer->groups[like->group];
	uint32_t index = (uint32_t)openmp->construct_count;

	if (group->construct_count >= CRIT_OTF2_CONSTRUCTS_MAX) {
		openmp->has_joined = true;
		return crit_otf2_call_region(writer, like->call);
	}
	if (crit_otf2_add_construct(writer, like) ||
	    crit_index_put(&openmp->construct_numbers, hash, index))
		return CRIT_NONE;
	return CRIT_OTF2_CONSTRUCT_BASE + index;
}

/*
 * libgomp's wait at a fork, for members that are not back yet, is the primary's alone and bears the
 * address of the region itself; LLVM's runtime barriers, of all members, have one inside.
 */
static bool is_fork_wait(const struct crit_otf2_location *location,
			 const struct crit_trace_span *span)
{
	const struct crit_otf2_member *member = location->member;

	return span->call == CRIT_CONSTRUCT_RUNTIME_BARRIER && span->site && member &&
	       member->depth && member->depth <= CRIT_OTF2_TEAM_DEPTH &&
	       member->frames[member->depth - 1].site == span->site;
}

uint32_t crit_otf2_construct_region(struct crit_otf2_writer *writer,
				    const struct crit_otf2_location *location,
				    const struct crit_trace_span *span)
{
	const struct crit_otf2_openmp *openmp = &writer->openmp;
	bool is_phase = span->call == CRIT_CONSTRUCT_PHASE;
	struct crit_otf2_construct like = { .group = location->group,
					    .call = span->call,
					    .site = is_phase ? 0 : span->site,
					    .is_fork_wait = is_fork_wait(location, span) };
	struct crit_probe probe;
	uint64_t hash;
	uint32_t i;

	if (!like.site)
		like.number = span->region;
	hash = crit_hash_mix(crit_hash_mix(like.site, like.number),
			     (uint64_t)like.group << 32 | like.call);
	writer->openmp.has_constructs = openmp->has_constructs || !is_phase;
	for (i = crit_index_first(&openmp->construct_numbers, hash, &probe); i != CRIT_NONE;
	     i = crit_index_next(&openmp->construct_numbers, &probe)) {
		const struct crit_otf2_construct *c = &openmp->constructs[i];

		if (c->site == like.site && c->number == like.number && c->group == like.group &&
		    c->call == like.call && c->is_fork_wait == like.is_fork_wait)
			return CRIT_OTF2_CONSTRUCT_BASE + i;
	}
	return add_construct(writer, &like, hash);
}

static uint64_t region_key(uint32_t node, uint32_t pid, uint32_t number)
{
	return (uint64_t)node << (PID_BITS + REGION_BITS) ^ (uint64_t)pid << REGION_BITS ^ number;
}

/* node, pid, number -> row of regions.  Errors: -ENOMEM. */
static int file_regions(const struct crit_region_results *regions, struct crit_map *ret_rows)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < regions->row_count && !rc; i++) {
		const struct crit_region_row *row = &regions->rows[i];

		rc = crit_map_set(ret_rows, region_key(row->node, row->pid, row->number),
				  (uint32_t)i);
	}
	return rc;
}

/* The row of the region in force inside a construct, NULL none. */
static const struct crit_region_row *region_of(const struct crit_otf2_writer *writer,
					       const struct crit_otf2_construct *construct,
					       const struct crit_region_results *regions,
					       const struct crit_map *rows)
{
	const struct crit_otf2_group *group = &writer->groups[construct->group];
	uint32_t row = crit_map_get(rows, region_key(group->node, group->pid, construct->number));

	return row == CRIT_NONE ? NULL : &regions->rows[row];
}

static void name_phase(const struct crit_otf2_construct *construct,
		       const struct crit_region_row *region, char name[NAME_BYTES])
{
	(void)snprintf(name, NAME_BYTES, "%s",
		       region && region->name[0] ? region->name : crit_call_name(construct->call));
}

/* A construct without an address is at that of the region it is in, as the report has it. */
static uint64_t site_of(const struct crit_otf2_construct *construct,
			const struct crit_region_row *region,
			const struct crit_region_results *regions)
{
	if (construct->site)
		return construct->site;
	while (region && !region->site) { /* parents come first */
		bool has_parent = region->parent >= 0 && region->parent < region - regions->rows;

		region = has_parent ? &regions->rows[region->parent] : NULL;
	}
	return region ? region->site : 0;
}

/* "omp parallel @solver.c:42" */
static void name_construct(const struct crit_otf2_writer *writer,
			   const struct crit_otf2_construct *construct, uint64_t site,
			   char name[NAME_BYTES], struct crit_place *ret_place)
{
	const struct crit_otf2_options *options = writer->options;
	const struct crit_otf2_group *group = &writer->groups[construct->group];
	const char *kind = crit_call_name(construct->call), *slash;
	char text[NAME_BYTES / 2];

	if (!site || !options->site_place ||
	    !options->site_place(options->site_user, group->node, group->pid, site, ret_place)) {
		(void)snprintf(name, NAME_BYTES, "%s", kind);
	} else if (ret_place->file && ret_place->line) {
		slash = strrchr(ret_place->file, '/');
		(void)snprintf(name, NAME_BYTES, "%s @%.120s:%u", kind,
			       slash ? slash + 1 : ret_place->file, ret_place->line);
	} else {
		(void)snprintf(name, NAME_BYTES, "%s @%s", kind,
			       crit_place_text(ret_place, text, sizeof(text)));
	}
}

static bool is_same(const struct crit_otf2_region *a, const struct crit_otf2_region *b)
{
	return a->name == b->name && a->file == b->file && a->line == b->line &&
	       a->role == b->role && a->paradigm == b->paradigm;
}

/* The global region of a construct; named: those so far.  Errors: CRIT_NONE. */
static uint32_t obtain_region(struct crit_otf2_writer *writer, struct crit_index *named,
			      const struct crit_otf2_construct *construct, const char *name,
			      const struct crit_place *place)
{
	bool has_line = place->file && place->line;
	uint32_t file = has_line ? crit_otf2_string(&writer->strings, place->file) : CRIT_NONE;
	uint32_t added = crit_otf2_add_region(writer, construct->call, name, file,
					      has_line ? place->line : 0);
	struct crit_otf2_region *region;
	struct crit_probe probe;
	uint64_t hash;
	uint32_t i;

	if (added == CRIT_NONE)
		return CRIT_NONE;
	region = &writer->regions[added];
	if (construct->is_fork_wait) /* else a barrier that the others do not have */
		region->role = OTF2_REGION_ROLE_FUNCTION;
	hash = crit_hash_mix(crit_hash_mix(region->name, region->file), region->line);
	for (i = crit_index_first(named, hash, &probe); i != CRIT_NONE;
	     i = crit_index_next(named, &probe)) {
		if (is_same(&writer->regions[i], region)) {
			writer->region_count--; /* it is there already */
			return i;
		}
	}
	return crit_index_put(named, hash, added) ? CRIT_NONE : added;
}

/* By group, whatever the order in which they were found. */
int crit_otf2_name_constructs(struct crit_otf2_writer *writer, const struct crit_results *results)
{
	struct crit_index named = { 0 };
	struct crit_map rows = { 0 };
	struct crit_otf2_construct *construct;
	char name[NAME_BYTES];
	int rc = file_regions(&results->regions, &rows);
	uint32_t group, i;

	for (group = 0; group < writer->group_count && !rc; group++) {
		i = writer->groups[group].first_construct;
		for (; i != CRIT_NONE && !rc; i = construct->next) {
			struct crit_place place = { 0 };
			const struct crit_region_row *region;

			construct = &writer->openmp.constructs[i];
			region = region_of(writer, construct, &results->regions, &rows);
			if (construct->call == CRIT_CONSTRUCT_PHASE)
				name_phase(construct, region, name);
			else
				name_construct(writer, construct,
					       site_of(construct, region, &results->regions), name,
					       &place);
			construct->region = obtain_region(writer, &named, construct, name, &place);
			if (construct->region == CRIT_NONE)
				rc = -ENOMEM;
		}
	}
	crit_map_fini(&rows);
	crit_index_fini(&named);
	return rc;
}

static OTF2_ErrorCode write_map(OTF2_DefWriter *local, OTF2_MappingType type, OTF2_IdMap *map)
{
	uint64_t size = 0;
	OTF2_ErrorCode code = map ? OTF2_IdMap_GetSize(map, &size) : OTF2_ERROR_MEM_ALLOC_FAILED;

	if (code == OTF2_SUCCESS && size)
		code = OTF2_DefWriter_WriteMappingTable(local, type, map);
	OTF2_IdMap_Free(map);
	return code;
}

OTF2_ErrorCode crit_otf2_write_maps(const struct crit_otf2_writer *writer,
				    const struct crit_otf2_location *location,
				    OTF2_DefWriter *local)
{
	const struct crit_otf2_openmp *openmp = &writer->openmp;
	const struct crit_otf2_group *group = &writer->groups[location->group];
	OTF2_IdMap *map =
		OTF2_IdMap_Create(OTF2_ID_MAP_SPARSE, CRIT_OTF2_CALLS + group->construct_count);
	OTF2_ErrorCode code;
	uint32_t i;

	for (i = 0; map && i < CRIT_OTF2_CALLS; i++) {
		if (writer->has_call[i])
			(void)OTF2_IdMap_AddIdPair(map, writer->first_call + i,
						   writer->call_regions[i]);
	}
	for (i = group->first_construct; map && i != CRIT_NONE; i = openmp->constructs[i].next)
		(void)OTF2_IdMap_AddIdPair(map, CRIT_OTF2_CONSTRUCT_BASE + i,
					   openmp->constructs[i].region);
	code = write_map(local, OTF2_MAPPING_REGION, map);
	if (code == OTF2_SUCCESS && writer->site_texts.count) {
		map = OTF2_IdMap_Create(OTF2_ID_MAP_SPARSE, writer->site_texts.count);
		for (i = 0; map && i < writer->site_texts.count; i++)
			(void)OTF2_IdMap_AddIdPair(map, writer->first_text + i,
						   writer->site_strings[i]);
		code = write_map(local, OTF2_MAPPING_STRING, map);
	}
	if (code == OTF2_SUCCESS && group->team_count) {
		map = OTF2_IdMap_Create(OTF2_ID_MAP_SPARSE, group->team_count);
		for (i = group->first_team; map && i != CRIT_NONE; i = openmp->teams[i].next)
			(void)OTF2_IdMap_AddIdPair(map, CRIT_OTF2_TEAM_BASE + i,
						   openmp->teams[i].communicator);
		code = write_map(local, OTF2_MAPPING_COMM, map);
	}
	return code;
}
