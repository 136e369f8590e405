// SPDX-License-Identifier: BSD-3-Clause
// Writes mapping tables and clock offsets, location by location.
#include "otf2/local_definitions.h"

#include "core/base/array.h"

#define MAP_ROWS 64u /* at first */

struct maps { /* of the locations of one group */
	uint32_t group; /* CRIT_NONE: of none */
	uint64_t written; /* the last location they were written for */
	bool is_written;
	OTF2_IdMap *regions, *strings, *comms;
};

static void free_maps(struct maps *maps)
{
	OTF2_IdMap_Free(maps->regions);
	OTF2_IdMap_Free(maps->strings);
	OTF2_IdMap_Free(maps->comms);
	*maps = (struct maps){ .group = CRIT_NONE };
}

static OTF2_ErrorCode make_maps(const struct crit_otf2_parts *parts, uint32_t group,
				struct maps *maps)
{
	free_maps(maps);
	maps->regions = OTF2_IdMap_Create(OTF2_ID_MAP_SPARSE, MAP_ROWS);
	maps->strings = OTF2_IdMap_Create(OTF2_ID_MAP_SPARSE, MAP_ROWS);
	maps->comms = OTF2_IdMap_Create(OTF2_ID_MAP_SPARSE, MAP_ROWS);
	if (!maps->regions || !maps->strings || !maps->comms)
		return OTF2_ERROR_MEM_ALLOC_FAILED;
	maps->group = group;
	crit_otf2_regions_map(parts->regions, maps->regions);
	crit_otf2_constructs_map(parts->constructs, group, maps->regions);
	crit_otf2_call_sites_map(parts->call_sites, maps->strings);
	crit_otf2_teams_map(parts->teams, group, maps->comms);
	return OTF2_SUCCESS;
}

/* Writes a table, if there is anything in it. */
static OTF2_ErrorCode write_map(OTF2_DefWriter *local, OTF2_MappingType type, const OTF2_IdMap *map)
{
	uint64_t size = 0;
	OTF2_ErrorCode code = OTF2_IdMap_GetSize(map, &size);

	if (code == OTF2_SUCCESS && size)
		code = OTF2_DefWriter_WriteMappingTable(local, type, map);
	return code;
}

static OTF2_ErrorCode write_maps(const struct maps *maps, OTF2_DefWriter *local)
{
	OTF2_ErrorCode code = write_map(local, OTF2_MAPPING_REGION, maps->regions);

	if (code == OTF2_SUCCESS)
		code = write_map(local, OTF2_MAPPING_STRING, maps->strings);
	if (code == OTF2_SUCCESS)
		code = write_map(local, OTF2_MAPPING_COMM, maps->comms);
	return code;
}

/* Readers ignore a single offset, so there are two, and both are 0: all is on the run clock. */
static OTF2_ErrorCode write_location(OTF2_Archive *batch, const struct maps *maps,
				     uint64_t reference, uint64_t begin_ns, uint64_t end_ns)
{
	OTF2_DefWriter *local = batch ? OTF2_Archive_GetDefWriter(batch, reference) : NULL;
	OTF2_ErrorCode code = local ? write_maps(maps, local) : OTF2_ERROR_INVALID;

	if (code == OTF2_SUCCESS)
		code = OTF2_DefWriter_WriteClockOffset(local, begin_ns, 0, 0);
	if (code == OTF2_SUCCESS)
		code = OTF2_DefWriter_WriteClockOffset(local, end_ns + 1, 0, 0);
	if (code == OTF2_SUCCESS)
		code = OTF2_Archive_CloseDefWriter(batch, local);
	return code;
}

/* Definitions name no location: those of a group are all the same. */
static OTF2_ErrorCode define_location(struct crit_otf2_files *files, uint32_t row,
				      uint64_t reference, struct maps *maps, uint64_t begin_ns,
				      uint64_t end_ns)
{
	OTF2_ErrorCode code;

	if (maps->is_written && crit_otf2_files_share_definitions(files, reference, maps->written))
		return OTF2_SUCCESS;
	code = write_location(crit_otf2_files_batch(files, row), maps, reference, begin_ns, end_ns);
	maps->written = reference;
	maps->is_written = true;
	return code;
}

/* Threads of one group follow each other, mostly. */
int crit_otf2_define_locations(struct crit_otf2_parts *parts, uint64_t begin_ns, uint64_t end_ns)
{
	struct maps maps = { .group = CRIT_NONE };
	OTF2_ErrorCode code = OTF2_SUCCESS;
	int rc;

	for (uint32_t i = 0;
	     i < crit_otf2_layout_location_count(parts->layout) && code == OTF2_SUCCESS; i++) {
		const struct crit_otf2_location *location =
			crit_otf2_layout_location(parts->layout, i);

		if (!location->is_listed || !location->is_own)
			continue;
		if (location->group != maps.group)
			code = make_maps(parts, location->group, &maps);
		if (code == OTF2_SUCCESS)
			code = define_location(parts->files, i, location->reference, &maps,
					       begin_ns, end_ns);
	}
	free_maps(&maps);
	rc = crit_otf2_check(parts->files, code, "local definitions");
	return rc ? rc : crit_otf2_files_close_batches(parts->files);
}
