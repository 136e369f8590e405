// SPDX-License-Identifier: BSD-3-Clause
// Adds regions, gives calls and constructs their final ones, and defines them.
#include "otf2/definitions/region_definitions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/symbols/system_calls.h"
#include "core/base/call.h"
#include "core/base/hash.h"
#include "core/base/index.h"
#include "core/base/map.h"
#include "otf2/definitions/calls.h"

#define PROVISIONAL (CRIT_OTF2_CALLS + CRIT_OTF2_SYSTEM_CALLS)

struct archive_region {
	uint32_t name; /* string */
	OTF2_RegionRole role;
	OTF2_Paradigm paradigm;
	uint32_t file; /* string, CRIT_NONE */
	uint32_t line;
};

struct crit_otf2_regions {
	struct crit_otf2_strings *strings;
	struct archive_region *rows;
	size_t count, capacity;
	struct crit_map programs; /* string -> region */
	struct crit_index constructs; /* by name, file and line */
	uint32_t states[CRIT_STATE_COUNT]; /* CRIT_NONE: no region */
	uint32_t first_call; /* provisional region of call 0; behind calls those of blocks */
	bool has_call[PROVISIONAL]; /* it was seen */
	uint32_t calls[PROVISIONAL]; /* the final ones */
};

struct crit_otf2_regions *crit_otf2_regions_create(struct crit_otf2_strings *strings)
{
	struct crit_otf2_regions *regions = calloc(1, sizeof(*regions));

	if (!regions)
		return NULL;
	regions->strings = strings;
	for (int state = 0; state < CRIT_STATE_COUNT; state++)
		regions->states[state] = CRIT_NONE;
	return regions;
}

void crit_otf2_regions_destroy(struct crit_otf2_regions *regions)
{
	if (!regions)
		return;
	crit_map_fini(&regions->programs);
	crit_index_fini(&regions->constructs);
	free(regions->rows);
	free(regions);
}

/* Errors: CRIT_NONE when out of memory, or a string was not there for want of it. */
static uint32_t add(struct crit_otf2_regions *regions, struct archive_region row)
{
	if (row.name == CRIT_NONE || crit_array_grow(&regions->rows, &regions->capacity,
						     regions->count + 1, sizeof(*regions->rows)))
		return CRIT_NONE;
	regions->rows[regions->count] = row;
	return (uint32_t)regions->count++;
}

uint32_t crit_otf2_regions_program(struct crit_otf2_regions *regions, uint32_t name)
{
	const struct archive_region row = { name, OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_USER,
					    CRIT_NONE, 0 };
	uint32_t region = name == CRIT_NONE ? CRIT_NONE : crit_map_get(&regions->programs, name);

	if (region != CRIT_NONE || name == CRIT_NONE)
		return region;
	region = add(regions, row);
	if (region != CRIT_NONE && crit_map_set(&regions->programs, name, region))
		return CRIT_NONE;
	return region;
}

int crit_otf2_regions_add_states(struct crit_otf2_regions *regions)
{
	static const char *const names[CRIT_STATE_COUNT] = {
		[CRIT_STATE_RUNNABLE] = "runnable", [CRIT_STATE_BLOCKED] = "blocked"
	};
	struct archive_region row = { CRIT_NONE, OTF2_REGION_ROLE_ARTIFICIAL, OTF2_PARADIGM_USER,
				      CRIT_NONE, 0 };

	for (int state = 0; state < CRIT_STATE_COUNT; state++) {
		if (!names[state])
			continue;
		row.name = crit_otf2_string(regions->strings, names[state]);
		regions->states[state] = add(regions, row);
		if (regions->states[state] == CRIT_NONE)
			return -ENOMEM;
	}
	return 0;
}

uint32_t crit_otf2_regions_state(const struct crit_otf2_regions *regions,
				 enum crit_kernel_state state)
{
	return regions->states[state];
}

void crit_otf2_regions_begin_calls(struct crit_otf2_regions *regions)
{
	regions->first_call = (uint32_t)regions->count;
}

uint32_t crit_otf2_regions_call(struct crit_otf2_regions *regions, unsigned int call)
{
	if (call >= CRIT_OTF2_CALLS)
		return CRIT_NONE;
	regions->has_call[call] = true;
	return regions->first_call + call;
}

uint32_t crit_otf2_regions_blocked(struct crit_otf2_regions *regions, int system_call)
{
	const uint32_t row = CRIT_OTF2_CALLS + (uint32_t)system_call;

	if (system_call < 0 || system_call >= (int)CRIT_OTF2_SYSTEM_CALLS ||
	    !crit_system_call_name(system_call))
		return crit_otf2_regions_state(regions, CRIT_STATE_BLOCKED);
	regions->has_call[row] = true;
	return regions->first_call + row;
}

static OTF2_Paradigm paradigm_of(unsigned int call)
{
	if (call < CRIT_CALL_OMP_FIRST)
		return OTF2_PARADIGM_MPI;
	return call == CRIT_CONSTRUCT_PHASE ? OTF2_PARADIGM_USER : OTF2_PARADIGM_OPENMP;
}

/* What a provisional region is of. */
static struct archive_region provisional(const struct crit_otf2_regions *regions, unsigned int row)
{
	char text[64];

	if (row < CRIT_OTF2_CALLS)
		return (struct archive_region){
			crit_otf2_string(regions->strings, crit_call_name(row)),
			crit_otf2_role(row), paradigm_of(row), CRIT_NONE, 0
		};
	(void)snprintf(text, sizeof(text), "blocked in %s",
		       crit_system_call_name((int)(row - CRIT_OTF2_CALLS)));
	return (struct archive_region){ crit_otf2_string(regions->strings, text),
					OTF2_REGION_ROLE_ARTIFICIAL, OTF2_PARADIGM_USER, CRIT_NONE,
					0 };
}

int crit_otf2_regions_name_calls(struct crit_otf2_regions *regions)
{
	for (unsigned int row = 0; row < PROVISIONAL; row++) {
		if (!regions->has_call[row])
			continue;
		regions->calls[row] = add(regions, provisional(regions, row));
		if (regions->calls[row] == CRIT_NONE)
			return -ENOMEM;
	}
	return 0;
}

static bool is_same(const struct archive_region *a, const struct archive_region *b)
{
	return a->name == b->name && a->file == b->file && a->line == b->line &&
	       a->role == b->role && a->paradigm == b->paradigm;
}

/* The region that is the same, added when new.  Errors: CRIT_NONE when out of memory. */
static uint32_t obtain(struct crit_otf2_regions *regions, const struct archive_region *row)
{
	uint64_t hash =
		crit_hash_mix(crit_hash_mix(0, (uint64_t)row->name << 32 | row->file), row->line);
	struct crit_probe probe;
	uint32_t i = crit_index_first(&regions->constructs, hash, &probe), added;

	while (i != CRIT_NONE && !is_same(&regions->rows[i], row))
		i = crit_index_next(&regions->constructs, &probe);
	if (i != CRIT_NONE)
		return i;
	added = add(regions, *row);
	return added == CRIT_NONE || crit_index_put(&regions->constructs, hash, added) ? CRIT_NONE
										       : added;
}

uint32_t crit_otf2_regions_construct(struct crit_otf2_regions *regions, unsigned int call,
				     const struct crit_otf2_construct_name *name)
{
	bool has_line = name->file && name->line;
	uint32_t file = has_line ? crit_otf2_string(regions->strings, name->file) : CRIT_NONE;
	const struct archive_region row = { crit_otf2_string(regions->strings, name->name),
					    name->is_fork_wait ? OTF2_REGION_ROLE_FUNCTION
							       : crit_otf2_role(call),
					    paradigm_of(call), file, has_line ? name->line : 0 };

	return obtain(regions, &row);
}

uint32_t crit_otf2_regions_function(struct crit_otf2_regions *regions, uint32_t name, uint32_t file)
{
	const struct archive_region row = { name, OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_SAMPLING,
					    file, 0 };

	return obtain(regions, &row);
}

bool crit_otf2_regions_is_call(const struct crit_otf2_regions *regions, uint32_t region)
{
	return region >= regions->first_call && region - regions->first_call < PROVISIONAL;
}

uint32_t crit_otf2_regions_final(const struct crit_otf2_regions *regions, uint32_t region)
{
	return regions->calls[region - regions->first_call];
}

void crit_otf2_regions_map(const struct crit_otf2_regions *regions, OTF2_IdMap *map)
{
	for (uint32_t i = 0; i < PROVISIONAL; i++) {
		if (regions->has_call[i])
			(void)OTF2_IdMap_AddIdPair(map, regions->first_call + i, regions->calls[i]);
	}
}

OTF2_ErrorCode crit_otf2_regions_write(const struct crit_otf2_regions *regions,
				       OTF2_GlobalDefWriter *global)
{
	OTF2_ErrorCode code = OTF2_SUCCESS;

	for (uint32_t i = 0; i < regions->count && code == OTF2_SUCCESS; i++) {
		const struct archive_region *row = &regions->rows[i];

		code = OTF2_GlobalDefWriter_WriteRegion(global, i, row->name, row->name, 0,
							row->role, row->paradigm,
							OTF2_REGION_FLAG_NONE, row->file, row->line,
							row->line);
	}
	return code;
}

int crit_otf2_regions_pack(const struct crit_otf2_regions *regions,
			   struct crit_exchange_buffer *buffer)
{
	return crit_exchange_buffer_put(buffer, regions->has_call, sizeof(regions->has_call));
}

int crit_otf2_regions_unpack(struct crit_otf2_regions *regions,
			     const struct crit_exchange_buffer *buffer, size_t *at)
{
	uint8_t has_call[PROVISIONAL];

	if (!crit_exchange_buffer_take(buffer, at, has_call, sizeof(has_call)))
		return -EPROTO;
	for (uint32_t i = 0; i < PROVISIONAL; i++)
		regions->has_call[i] = regions->has_call[i] || has_call[i];
	return 0;
}

int crit_otf2_regions_pack_numbers(const struct crit_otf2_regions *regions,
				   struct crit_exchange_buffer *buffer)
{
	int rc = crit_otf2_regions_pack(regions, buffer);

	return rc ? rc : crit_exchange_buffer_put(buffer, regions->calls, sizeof(regions->calls));
}

int crit_otf2_regions_unpack_numbers(struct crit_otf2_regions *regions,
				     const struct crit_exchange_buffer *buffer, size_t *at)
{
	int rc = crit_otf2_regions_unpack(regions, buffer, at);

	if (!rc && !crit_exchange_buffer_take(buffer, at, regions->calls, sizeof(regions->calls)))
		rc = -EPROTO;
	return rc;
}
