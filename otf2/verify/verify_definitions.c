// SPDX-License-Identifier: BSD-3-Clause
// Checks global definitions: references that exist, and clock offsets.
#include "otf2/verify/verify_definitions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "otf2/verify/faults.h"
#include "otf2/verify/verify_regions.h"

#define LOCAL_MAX 10000000u /* definitions of one location; a cut file has no end */

static OTF2_CallbackCode on_clock(void *user, uint64_t resolution, uint64_t offset, uint64_t length,
				  uint64_t real_ns)
{
	struct crit_otf2_verifier *verifier = user;

	(void)real_ns;
	if (verifier->has_clock) { /* a cut file is read again and again */
		(void)snprintf(verifier->words.text, sizeof(verifier->words.text),
			       "they begin anew, so the file was cut");
		return OTF2_CALLBACK_INTERRUPT;
	}
	if (!resolution)
		crit_otf2_fault(verifier, "the clock has no resolution");
	verifier->has_clock = true;
	verifier->begin_ns = offset;
	verifier->length_ns = length;
	return OTF2_CALLBACK_SUCCESS;
}

// NOLINTBEGIN(readability-function-size): the signatures are the library's
static OTF2_CallbackCode on_location_group(void *user, OTF2_LocationGroupRef self,
					   OTF2_StringRef name, OTF2_LocationGroupType type,
					   OTF2_SystemTreeNodeRef parent,
					   OTF2_LocationGroupRef creator)
{
	struct crit_otf2_verifier *verifier = user;

	(void)name;
	(void)type;
	(void)parent;
	(void)creator;
	return crit_otf2_keep_error(verifier, crit_map_set(&verifier->location_groups, self, 0));
}

static OTF2_CallbackCode on_location(void *user, OTF2_LocationRef self, OTF2_StringRef name,
				     OTF2_LocationType type, uint64_t event_count,
				     OTF2_LocationGroupRef group)
{
	struct crit_otf2_verifier *verifier = user;
	uint32_t index = (uint32_t)verifier->location_count;
	int rc;

	(void)name;
	(void)type;
	if (crit_map_get(&verifier->location_groups, group) == CRIT_NONE)
		crit_otf2_fault(verifier, "location %llu: its location group %u is not defined",
				(unsigned long long)self, group);
	if (crit_map_get(&verifier->location_numbers, self) != CRIT_NONE) {
		crit_otf2_fault(verifier, "location %llu is defined twice",
				(unsigned long long)self);
		return OTF2_CALLBACK_SUCCESS;
	}
	rc = crit_array_grow(&verifier->locations, &verifier->location_capacity, index + 1u,
			     sizeof(*verifier->locations));
	if (!rc)
		rc = crit_map_set(&verifier->location_numbers, self, index);
	if (!rc)
		verifier->locations[verifier->location_count++] = (struct crit_otf2_seen_location){
			.reference = self, .event_count = event_count, .group = group
		};
	return crit_otf2_keep_error(verifier, rc);
}

/* Where the group of all locations of a paradigm is kept; NULL: nobody asks for it. */
static uint32_t *locations_of(struct crit_otf2_verifier *verifier, OTF2_Paradigm paradigm)
{
	if (paradigm == OTF2_PARADIGM_MPI)
		return &verifier->comm_locations;
	return paradigm == OTF2_PARADIGM_OPENMP ? &verifier->thread_locations : NULL;
}

static const char *name_of(OTF2_Paradigm paradigm)
{
	return paradigm == OTF2_PARADIGM_MPI ? "MPI" : "OpenMP";
}

/* The group of all locations comes first, and once. */
static void check_order(struct crit_otf2_verifier *verifier, uint32_t index)
{
	const struct crit_otf2_seen_group *group = &verifier->groups[index];
	uint32_t *all = locations_of(verifier, group->paradigm);

	if (!all)
		return;
	if (group->type == OTF2_GROUP_TYPE_COMM_GROUP && *all == CRIT_NONE)
		crit_otf2_fault(verifier,
				"group %u of a communicator is defined before the group of all "
				"%s locations",
				group->reference, name_of(group->paradigm));
	if (group->type == OTF2_GROUP_TYPE_COMM_LOCATIONS && *all != CRIT_NONE)
		crit_otf2_fault(verifier, "the group of all %s locations is defined twice",
				name_of(group->paradigm));
	if (group->type == OTF2_GROUP_TYPE_COMM_LOCATIONS)
		*all = index;
}

static OTF2_CallbackCode on_group(void *user, OTF2_GroupRef self, OTF2_StringRef name,
				  OTF2_GroupType type, OTF2_Paradigm paradigm, OTF2_GroupFlag flags,
				  uint32_t member_count, const uint64_t *members)
{
	struct crit_otf2_verifier *verifier = user;
	uint32_t index = (uint32_t)verifier->group_count;
	struct crit_otf2_seen_group *group;
	int rc;

	(void)name;
	(void)flags;
	rc = crit_array_grow(&verifier->groups, &verifier->group_capacity, index + 1u,
			     sizeof(*verifier->groups));
	if (!rc)
		rc = crit_map_set(&verifier->group_numbers, self, index);
	if (rc)
		return crit_otf2_keep_error(verifier, rc);
	group = &verifier->groups[index];
	*group = (struct crit_otf2_seen_group){
		.reference = self, .type = type, .paradigm = paradigm, .member_count = member_count
	};
	group->members = calloc(member_count + 1u, sizeof(*group->members));
	if (!group->members)
		return crit_otf2_keep_error(verifier, -ENOMEM);
	if (member_count)
		memcpy(group->members, members, member_count * sizeof(*members));
	verifier->group_count++;
	check_order(verifier, index);
	return OTF2_CALLBACK_SUCCESS;
}

static int add_communicator(struct crit_otf2_verifier *verifier, OTF2_CommRef self,
			    OTF2_GroupRef group, OTF2_GroupRef group_b)
{
	uint32_t index = (uint32_t)verifier->communicator_count;
	struct crit_otf2_seen_communicator add = {
		.group = crit_map_get(&verifier->group_numbers, group),
		.group_b = group_b == OTF2_UNDEFINED_GROUP
				   ? CRIT_NONE
				   : crit_map_get(&verifier->group_numbers, group_b),
	};

	if (add.group == CRIT_NONE ||
	    (group_b != OTF2_UNDEFINED_GROUP && add.group_b == CRIT_NONE)) {
		crit_otf2_fault(verifier, "communicator %u: its group is not defined", self);
		return 0;
	}
	if (verifier->groups[add.group].type == OTF2_GROUP_TYPE_COMM_SELF)
		add.group = CRIT_NONE;
	if (crit_array_grow(&verifier->communicators, &verifier->communicator_capacity, index + 1u,
			    sizeof(*verifier->communicators)))
		return -ENOMEM;
	verifier->communicators[verifier->communicator_count++] = add;
	return crit_map_set(&verifier->communicator_numbers, self, index);
}

static OTF2_CallbackCode on_communicator(void *user, OTF2_CommRef self, OTF2_StringRef name,
					 OTF2_GroupRef group, OTF2_CommRef parent,
					 OTF2_CommFlag flags)
{
	(void)name;
	(void)parent;
	(void)flags;
	return crit_otf2_keep_error(user,
				    add_communicator(user, self, group, OTF2_UNDEFINED_GROUP));
}

static OTF2_CallbackCode on_intercommunicator(void *user, OTF2_CommRef self, OTF2_StringRef name,
					      OTF2_GroupRef group, OTF2_GroupRef group_b,
					      OTF2_CommRef common, OTF2_CommFlag flags)
{
	(void)name;
	(void)common;
	(void)flags;
	return crit_otf2_keep_error(user, add_communicator(user, self, group, group_b));
}
// NOLINTEND(readability-function-size)

/* Who is listed: the ranks by their location groups, threads by their locations. */
static int file_locations(struct crit_otf2_verifier *verifier,
			  const struct crit_otf2_seen_group *all)
{
	bool is_mpi = all->paradigm == OTF2_PARADIGM_MPI;
	uint32_t location;
	int rc = 0;

	for (uint32_t i = 0; i < all->member_count && !rc; i++) {
		location = crit_map_get(&verifier->location_numbers, all->members[i]);
		if (location == CRIT_NONE)
			crit_otf2_fault(verifier,
					"the group of all %s locations names location %llu, which "
					"is not defined",
					name_of(all->paradigm),
					(unsigned long long)all->members[i]);
		else
			rc = is_mpi ? crit_map_set(&verifier->ranks,
						   verifier->locations[location].group, i)
				    : crit_map_set(&verifier->threads, location, i);
	}
	return rc;
}

/* Every other group counts in the one of all locations. */
static void check_members(struct crit_otf2_verifier *verifier,
			  const struct crit_otf2_seen_group *group)
{
	const uint32_t *listed = locations_of(verifier, group->paradigm);
	uint32_t count;

	if (group->type != OTF2_GROUP_TYPE_COMM_GROUP || !listed)
		return;
	count = *listed == CRIT_NONE ? 0 : verifier->groups[*listed].member_count;
	for (uint32_t i = 0; i < group->member_count; i++) {
		if (group->members[i] < count)
			continue;
		crit_otf2_fault(verifier,
				"group %u: member %llu is out of range; there are %u %s locations",
				group->reference, (unsigned long long)group->members[i], count,
				name_of(group->paradigm));
		return;
	}
}

static int check_groups(struct crit_otf2_verifier *verifier)
{
	int rc = 0;

	if (verifier->comm_locations != CRIT_NONE)
		rc = file_locations(verifier, &verifier->groups[verifier->comm_locations]);
	if (!rc && verifier->thread_locations != CRIT_NONE)
		rc = file_locations(verifier, &verifier->groups[verifier->thread_locations]);
	for (size_t i = 0; i < verifier->group_count; i++)
		check_members(verifier, &verifier->groups[i]);
	return rc;
}

static OTF2_ErrorCode read_global(struct crit_otf2_verifier *verifier, uint64_t limit,
				  uint64_t *ret_count)
{
	OTF2_GlobalDefReader *global = OTF2_Reader_GetGlobalDefReader(verifier->reader);
	OTF2_GlobalDefReaderCallbacks *calls = OTF2_GlobalDefReaderCallbacks_New();
	OTF2_ErrorCode code = OTF2_ERROR_INVALID;

	if (calls && global) {
		(void)OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(calls, on_clock);
		(void)OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(calls,
									     on_location_group);
		(void)OTF2_GlobalDefReaderCallbacks_SetLocationCallback(calls, on_location);
		crit_otf2_verify_set_regions(calls);
		(void)OTF2_GlobalDefReaderCallbacks_SetGroupCallback(calls, on_group);
		(void)OTF2_GlobalDefReaderCallbacks_SetCommCallback(calls, on_communicator);
		(void)OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(calls,
									 on_intercommunicator);
		code = OTF2_Reader_RegisterGlobalDefCallbacks(verifier->reader, global, calls,
							      verifier);
	}
	if (calls)
		OTF2_GlobalDefReaderCallbacks_Delete(calls);
	if (code == OTF2_SUCCESS)
		code = OTF2_Reader_ReadGlobalDefinitions(verifier->reader, global, limit,
							 ret_count);
	if (code == OTF2_SUCCESS)
		code = OTF2_Reader_CloseGlobalDefReader(verifier->reader, global);
	return code;
}

int crit_otf2_verify_definitions(struct crit_otf2_verifier *verifier)
{
	uint64_t read_count = 0, said_count = 0, said_locations = 0;
	OTF2_ErrorCode code;

	(void)OTF2_Reader_GetNumberOfGlobalDefinitions(verifier->reader, &said_count);
	(void)OTF2_Reader_GetNumberOfLocations(verifier->reader, &said_locations);
	code = read_global(verifier, said_count + 1, &read_count);
	if (verifier->error)
		return verifier->error;
	if (code != OTF2_SUCCESS) {
		crit_otf2_fault(verifier,
				"%s.def: the global definitions cannot be read: %s; the rest was "
				"not looked at",
				verifier->base, verifier->words.text);
		return 0;
	}
	if (read_count != said_count)
		crit_otf2_fault(verifier, "the anchor says %llu global definitions, there are %s",
				(unsigned long long)said_count,
				read_count > said_count ? "more" : "less");
	if (verifier->location_count != said_locations)
		crit_otf2_fault(verifier, "the anchor says %llu locations, %zu are defined",
				(unsigned long long)said_locations, verifier->location_count);
	if (!verifier->has_clock)
		crit_otf2_fault(verifier, "the clock properties are missing");
	return check_groups(verifier) ? -ENOMEM : 1;
}

static OTF2_CallbackCode on_offset(void *user, OTF2_TimeStamp time_ns, int64_t offset,
				   double deviation)
{
	struct crit_otf2_verifier *verifier = user;
	struct crit_otf2_seen_location *location = &verifier->locations[verifier->stream.location];

	(void)offset;
	(void)deviation;
	if (location->offset_count && time_ns <= location->offset_ns) {
		(void)snprintf(verifier->words.text, sizeof(verifier->words.text),
			       "its clock offsets are not in order");
		return OTF2_CALLBACK_INTERRUPT; /* a cut file is read again and again */
	}
	location->offset_count++;
	location->offset_ns = time_ns;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_ErrorCode read_local(struct crit_otf2_verifier *verifier, OTF2_DefReader *local,
				 OTF2_DefReaderCallbacks *calls)
{
	OTF2_ErrorCode code = OTF2_DefReaderCallbacks_SetClockOffsetCallback(calls, on_offset);
	uint64_t count = 0;

	if (code == OTF2_SUCCESS)
		code = OTF2_Reader_RegisterDefCallbacks(verifier->reader, local, calls, verifier);
	if (code == OTF2_SUCCESS)
		code = OTF2_Reader_ReadLocalDefinitions(verifier->reader, local, LOCAL_MAX, &count);
	return count < LOCAL_MAX ? code : OTF2_ERROR_INTEGRITY_FAULT;
}

/* One location's own definitions: two clock offsets at least, or readers apply none. */
static void check_offsets(struct crit_otf2_verifier *verifier, OTF2_DefReaderCallbacks *calls)
{
	struct crit_otf2_seen_location *location = &verifier->locations[verifier->stream.location];
	unsigned long long reference = location->reference;
	OTF2_DefReader *local = OTF2_Reader_GetDefReader(verifier->reader, location->reference);
	OTF2_ErrorCode code = OTF2_ERROR_INVALID;

	if (local) {
		code = read_local(verifier, local, calls);
		(void)OTF2_Reader_CloseDefReader(verifier->reader, local);
	}
	if (code != OTF2_SUCCESS)
		crit_otf2_fault(verifier, "location %llu: %llu.def cannot be read: %s", reference,
				reference, verifier->words.text);
	else if (location->offset_count == 1)
		crit_otf2_fault(verifier, "location %llu: only one clock offset; readers ignore it",
				reference);
	else if (location->offset_count == 0)
		crit_otf2_fault(verifier, "location %llu: no clock offset", reference);
}

int crit_otf2_verify_offsets(struct crit_otf2_verifier *verifier, size_t first, size_t end)
{
	OTF2_DefReaderCallbacks *calls = OTF2_DefReaderCallbacks_New();

	if (!calls)
		return -ENOMEM;
	for (size_t i = first; i < end; i++) {
		if (verifier->locations[i].has_events)
			(void)OTF2_Reader_SelectLocation(verifier->reader,
							 verifier->locations[i].reference);
	}
	(void)OTF2_Reader_OpenDefFiles(verifier->reader);
	for (size_t i = first; i < end; i++) {
		verifier->stream.location = (uint32_t)i;
		if (verifier->locations[i].has_definitions)
			check_offsets(verifier, calls);
	}
	(void)OTF2_Reader_CloseDefFiles(verifier->reader);
	OTF2_DefReaderCallbacks_Delete(calls);
	return 0;
}
