// SPDX-License-Identifier: BSD-3-Clause
// Writes mapping tables and clock offsets, location by location.
#include "otf2/local_definitions.h"

#define MAP_ROWS 64u /* at first */

/* Writes a table, if there is anything in it, and frees it. */
static OTF2_ErrorCode write_map(OTF2_DefWriter *local, OTF2_MappingType type, OTF2_IdMap *map)
{
	uint64_t size = 0;
	OTF2_ErrorCode code = OTF2_IdMap_GetSize(map, &size);

	if (code == OTF2_SUCCESS && size)
		code = OTF2_DefWriter_WriteMappingTable(local, type, map);
	OTF2_IdMap_Free(map);
	return code;
}

static OTF2_ErrorCode write_maps(const struct crit_otf2_parts *parts, uint32_t group,
				 OTF2_DefWriter *local)
{
	OTF2_IdMap *regions = OTF2_IdMap_Create(OTF2_ID_MAP_SPARSE, MAP_ROWS);
	OTF2_IdMap *strings = OTF2_IdMap_Create(OTF2_ID_MAP_SPARSE, MAP_ROWS);
	OTF2_IdMap *comms = OTF2_IdMap_Create(OTF2_ID_MAP_SPARSE, MAP_ROWS);
	OTF2_ErrorCode codes[3];

	if (!regions || !strings || !comms) {
		OTF2_IdMap_Free(regions);
		OTF2_IdMap_Free(strings);
		OTF2_IdMap_Free(comms);
		return OTF2_ERROR_MEM_ALLOC_FAILED;
	}
	crit_otf2_regions_map(parts->regions, regions);
	crit_otf2_constructs_map(parts->constructs, group, regions);
	crit_otf2_call_sites_map(parts->call_sites, strings);
	crit_otf2_teams_map(parts->teams, group, comms);
	codes[0] = write_map(local, OTF2_MAPPING_REGION, regions);
	codes[1] = write_map(local, OTF2_MAPPING_STRING, strings);
	codes[2] = write_map(local, OTF2_MAPPING_COMM, comms);
	return codes[0] != OTF2_SUCCESS ? codes[0] : codes[1] != OTF2_SUCCESS ? codes[1] : codes[2];
}

/* Readers ignore a single offset, so there are two, and both are 0: all is on the run clock. */
static int define_location(struct crit_otf2_parts *parts, const struct crit_otf2_location *location,
			   uint64_t begin_ns, uint64_t end_ns)
{
	OTF2_Archive *archive = crit_otf2_files_archive(parts->files);
	OTF2_DefWriter *local = OTF2_Archive_GetDefWriter(archive, location->reference);
	OTF2_ErrorCode code;

	if (!local)
		return crit_otf2_check(parts->files, OTF2_ERROR_INVALID, "local definitions");
	code = write_maps(parts, location->group, local);
	if (code == OTF2_SUCCESS)
		code = OTF2_DefWriter_WriteClockOffset(local, begin_ns, 0, 0);
	if (code == OTF2_SUCCESS)
		code = OTF2_DefWriter_WriteClockOffset(local, end_ns + 1, 0, 0);
	if (code == OTF2_SUCCESS)
		code = OTF2_Archive_CloseDefWriter(archive, local);
	return crit_otf2_check(parts->files, code, "local definitions");
}

int crit_otf2_define_locations(struct crit_otf2_parts *parts, uint64_t begin_ns, uint64_t end_ns)
{
	OTF2_Archive *archive = crit_otf2_files_archive(parts->files);
	int rc = crit_otf2_check(parts->files, OTF2_Archive_CloseEvtFiles(archive), "events");

	if (!rc)
		rc = crit_otf2_check(parts->files, OTF2_Archive_OpenDefFiles(archive),
				     "local definitions");
	for (uint32_t i = 0; i < crit_otf2_layout_location_count(parts->layout) && !rc; i++) {
		const struct crit_otf2_location *location =
			crit_otf2_layout_location(parts->layout, i);

		if (location->is_listed && location->is_own)
			rc = define_location(parts, location, begin_ns, end_ns);
	}
	if (!rc)
		rc = crit_otf2_check(parts->files, OTF2_Archive_CloseDefFiles(archive),
				     "local definitions");
	return rc;
}
