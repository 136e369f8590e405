// SPDX-License-Identifier: BSD-3-Clause
// Finds constructs by what identifies them, and names them by kind and source location.
#include "otf2/openmp/construct_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/call.h"
#include "core/base/hash.h"
#include "core/base/index.h"
#include "core/base/map.h"

#define NAME_BYTES 256
#define PID_BITS 22u
#define REGION_BITS 20u
#define BASE (1u << 20) /* of provisional regions */
#define MAX_OF_GROUP 4096u /* the mapping table must fit a chunk */

struct construct {
	uint64_t site; /* code address; 0 of a phase, or unknown */
	uint32_t number; /* of the region in force, where there is no address */
	uint32_t group;
	bool is_fork_wait; /* a runtime barrier of the primary alone */
	uint32_t next; /* of the same group, CRIT_NONE */
	uint32_t region; /* the final one, once all events are written */
	uint16_t call;
};

struct construct_list { /* of a group */
	uint32_t first, count;
};

struct crit_otf2_constructs {
	const struct crit_otf2_layout *layout;
	struct crit_otf2_regions *regions;
	const struct crit_otf2_call_sites *call_sites;
	struct construct *rows;
	size_t count, capacity;
	struct construct_list *lists; /* by group */
	struct crit_index numbers; /* by what identifies one */
	bool has_openmp, has_joined;
};

struct shared_construct_counts { /* to process 0 */
	uint64_t construct_count;
	uint32_t has_openmp, has_joined;
};

struct shared_construct {
	uint64_t site;
	uint32_t number, group, call, is_fork_wait;
};

struct crit_otf2_constructs *crit_otf2_constructs_create(const struct crit_otf2_definitions *named)
{
	struct crit_otf2_constructs *constructs = calloc(1, sizeof(*constructs));
	size_t groups = crit_otf2_layout_group_count(named->layout) + 1, i; /* the stranger's */

	if (!constructs)
		return NULL;
	*constructs = (struct crit_otf2_constructs){
		.layout = named->layout,
		.regions = named->regions,
		.call_sites = named->call_sites,
		.lists = calloc(groups, sizeof(*constructs->lists)),
	};
	for (i = 0; constructs->lists && i < groups; i++)
		constructs->lists[i].first = CRIT_NONE;
	if (constructs->lists)
		return constructs;
	crit_otf2_constructs_destroy(constructs);
	return NULL;
}

void crit_otf2_constructs_destroy(struct crit_otf2_constructs *constructs)
{
	if (!constructs)
		return;
	free(constructs->rows);
	free(constructs->lists);
	crit_index_fini(&constructs->numbers);
	free(constructs);
}

/* Errors: CRIT_NONE when out of memory, or its index. */
static uint32_t add(struct crit_otf2_constructs *constructs, const struct construct *like)
{
	struct construct_list *list = &constructs->lists[like->group];
	uint32_t index = (uint32_t)constructs->count;

	if (crit_array_grow(&constructs->rows, &constructs->capacity, index + 1u,
			    sizeof(*constructs->rows)))
		return CRIT_NONE;
	constructs->rows[index] = *like;
	constructs->rows[index].next = list->first;
	constructs->count++;
	list->first = index;
	list->count++;
	return index;
}

static bool is_same(const struct construct *a, const struct construct *b)
{
	return a->site == b->site && a->number == b->number && a->group == b->group &&
	       a->call == b->call && a->is_fork_wait == b->is_fork_wait;
}

static uint32_t obtain(struct crit_otf2_constructs *constructs, const struct construct *like)
{
	uint64_t hash = crit_hash_mix(crit_hash_mix(like->site, like->number),
				      (uint64_t)like->group << 32 | like->call);
	struct crit_probe probe;
	uint32_t i = crit_index_first(&constructs->numbers, hash, &probe);

	while (i != CRIT_NONE && !is_same(&constructs->rows[i], like))
		i = crit_index_next(&constructs->numbers, &probe);
	if (i != CRIT_NONE)
		return BASE + i;
	if (constructs->lists[like->group].count >= MAX_OF_GROUP) {
		constructs->has_joined = true;
		return crit_otf2_regions_call(constructs->regions, like->call);
	}
	i = add(constructs, like);
	return i == CRIT_NONE || crit_index_put(&constructs->numbers, hash, i) ? CRIT_NONE
									       : BASE + i;
}

uint32_t crit_otf2_constructs_region(struct crit_otf2_constructs *constructs, uint32_t group,
				     const struct crit_trace_span *span, uint64_t team_site)
{
	bool is_phase = span->call == CRIT_CONSTRUCT_PHASE;
	struct construct like = { .group = group,
				  .call = span->call,
				  .site = is_phase ? 0 : span->site };

	/*
	 * libgomp's wait at a fork, for members that are not back yet, is the primary's alone and
	 * bears the address of the region itself; LLVM's runtime barriers, of all members, have one
	 * inside.
	 */
	like.is_fork_wait = span->call == CRIT_CONSTRUCT_RUNTIME_BARRIER && span->site &&
			    span->site == team_site;
	if (!like.site)
		like.number = span->region;
	constructs->has_openmp = constructs->has_openmp || !is_phase;
	return obtain(constructs, &like);
}

static uint64_t region_key(uint32_t node, uint32_t pid, uint32_t number)
{
	return (uint64_t)node << (PID_BITS + REGION_BITS) ^ (uint64_t)pid << REGION_BITS ^ number;
}

/* node, pid, number -> row of regions.  Errors: -ENOMEM. */
static int file_regions(const struct crit_region_results *regions, struct crit_map *ret_rows)
{
	int rc = 0;

	for (size_t i = 0; i < regions->row_count && !rc; i++) {
		const struct crit_region_row *row = &regions->rows[i];

		rc = crit_map_set(ret_rows, region_key(row->node, row->pid, row->number),
				  (uint32_t)i);
	}
	return rc;
}

/* The row of the region in force inside a construct, NULL none. */
static const struct crit_region_row *region_of(const struct crit_otf2_constructs *constructs,
					       const struct construct *construct,
					       const struct crit_region_results *regions,
					       const struct crit_map *rows)
{
	const struct crit_otf2_group *group =
		crit_otf2_layout_group(constructs->layout, construct->group);
	uint32_t row = crit_map_get(rows, region_key(group->node, group->pid, construct->number));

	return row == CRIT_NONE ? NULL : &regions->rows[row];
}

static void name_phase(const struct construct *construct, const struct crit_region_row *region,
		       char name[NAME_BYTES])
{
	(void)snprintf(name, NAME_BYTES, "%s",
		       region && region->name[0] ? region->name : crit_call_name(construct->call));
}

/* A construct without an address is at that of the region it is in, as the report has it. */
static uint64_t site_of(const struct construct *construct, const struct crit_region_row *region,
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
static void name_construct(const struct crit_otf2_constructs *constructs,
			   const struct construct *construct, uint64_t site, char name[NAME_BYTES],
			   struct crit_source_location *ret_place)
{
	const char *kind = crit_call_name(construct->call), *slash;
	char text[NAME_BYTES / 2];

	if (!site || !crit_otf2_call_sites_place(constructs->call_sites, construct->group, site,
						 ret_place)) {
		(void)snprintf(name, NAME_BYTES, "%s", kind);
	} else if (ret_place->file && ret_place->line) {
		slash = strrchr(ret_place->file, '/');
		(void)snprintf(name, NAME_BYTES, "%s @%.120s:%u", kind,
			       slash ? slash + 1 : ret_place->file, ret_place->line);
	} else {
		(void)snprintf(name, NAME_BYTES, "%s @%s", kind,
			       crit_source_location_text(ret_place, text, sizeof(text)));
	}
}

/* Errors: -ENOMEM. */
static int name_one(struct crit_otf2_constructs *constructs, struct construct *construct,
		    const struct crit_region_results *results, const struct crit_map *rows)
{
	const struct crit_region_row *region = region_of(constructs, construct, results, rows);
	struct crit_otf2_construct_name named = { .is_fork_wait = construct->is_fork_wait };
	struct crit_source_location place = { 0 };
	char name[NAME_BYTES];

	if (construct->call == CRIT_CONSTRUCT_PHASE)
		name_phase(construct, region, name);
	else
		name_construct(constructs, construct, site_of(construct, region, results), name,
			       &place);
	named.name = name;
	named.file = place.file;
	named.line = place.line;
	construct->region =
		crit_otf2_regions_construct(constructs->regions, construct->call, &named);
	return construct->region == CRIT_NONE ? -ENOMEM : 0;
}

/* By group, whatever the order in which they were found. */
int crit_otf2_constructs_name(struct crit_otf2_constructs *constructs,
			      const struct crit_region_results *results)
{
	struct crit_map rows = { 0 };
	int rc = file_regions(results, &rows);
	uint32_t i;

	for (uint32_t group = 0; group < crit_otf2_layout_group_count(constructs->layout);
	     group++) {
		i = constructs->lists[group].first;
		for (; i != CRIT_NONE && !rc; i = constructs->rows[i].next)
			rc = name_one(constructs, &constructs->rows[i], results, &rows);
	}
	crit_map_fini(&rows);
	return rc;
}

bool crit_otf2_constructs_has_openmp(const struct crit_otf2_constructs *constructs)
{
	return constructs->has_openmp;
}

bool crit_otf2_constructs_has_joined(const struct crit_otf2_constructs *constructs)
{
	return constructs->has_joined;
}

uint32_t crit_otf2_constructs_final(const struct crit_otf2_constructs *constructs, uint32_t region)
{
	return region >= BASE && region - BASE < constructs->count
		       ? constructs->rows[region - BASE].region
		       : region;
}

void crit_otf2_constructs_map(const struct crit_otf2_constructs *constructs, uint32_t group,
			      OTF2_IdMap *map)
{
	for (uint32_t i = constructs->lists[group].first; i != CRIT_NONE;
	     i = constructs->rows[i].next)
		(void)OTF2_IdMap_AddIdPair(map, BASE + i, constructs->rows[i].region);
}

int crit_otf2_constructs_pack(const struct crit_otf2_constructs *constructs,
			      struct crit_exchange_buffer *buffer)
{
	const struct shared_construct_counts counts = { constructs->count, constructs->has_openmp,
							constructs->has_joined };
	int rc = crit_exchange_buffer_put(buffer, &counts, sizeof(counts));

	for (size_t i = 0; i < constructs->count && !rc; i++) {
		const struct construct *construct = &constructs->rows[i];
		struct shared_construct row = { construct->site, construct->number,
						construct->group, construct->call,
						construct->is_fork_wait };

		rc = crit_exchange_buffer_put(buffer, &row, sizeof(row));
	}
	return rc;
}

static int unpack_construct(struct crit_otf2_constructs *constructs,
			    const struct crit_exchange_buffer *buffer, size_t *at)
{
	struct shared_construct row;
	struct construct like;

	if (!crit_exchange_buffer_take(buffer, at, &row, sizeof(row)) ||
	    row.group >= crit_otf2_layout_group_count(constructs->layout) ||
	    row.call >= CRIT_OTF2_CALLS)
		return -EPROTO;
	like = (struct construct){ .site = row.site,
				   .number = row.number,
				   .group = row.group,
				   .call = (uint16_t)row.call,
				   .is_fork_wait = row.is_fork_wait != 0 };
	return add(constructs, &like) == CRIT_NONE ? -ENOMEM : 0;
}

int crit_otf2_constructs_unpack(struct crit_otf2_constructs *constructs,
				const struct crit_exchange_buffer *buffer, size_t *at,
				struct crit_otf2_told *ret_told)
{
	struct shared_construct_counts counts;
	int rc = 0;

	if (!crit_exchange_buffer_take(buffer, at, &counts, sizeof(counts)))
		return -EPROTO;
	constructs->has_openmp = constructs->has_openmp || counts.has_openmp;
	constructs->has_joined = constructs->has_joined || counts.has_joined;
	ret_told->first = constructs->count;
	for (uint64_t i = 0; i < counts.construct_count && !rc; i++)
		rc = unpack_construct(constructs, buffer, at);
	ret_told->count = constructs->count - ret_told->first;
	return rc;
}

int crit_otf2_constructs_pack_numbers(const struct crit_otf2_constructs *constructs,
				      struct crit_otf2_told told,
				      struct crit_exchange_buffer *buffer)
{
	int rc = 0;

	for (size_t i = told.first; i < told.first + told.count && !rc; i++)
		rc = crit_exchange_buffer_put(buffer, &constructs->rows[i].region,
					      sizeof(uint32_t));
	return rc;
}

int crit_otf2_constructs_unpack_numbers(struct crit_otf2_constructs *constructs,
					const struct crit_exchange_buffer *buffer, size_t *at)
{
	for (size_t i = 0; i < constructs->count; i++) {
		if (!crit_exchange_buffer_take(buffer, at, &constructs->rows[i].region,
					       sizeof(uint32_t)))
			return -EPROTO;
	}
	return 0;
}
