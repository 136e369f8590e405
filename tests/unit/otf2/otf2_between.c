// SPDX-License-Identifier: BSD-3-Clause
// Functions of libotf2 in front of its own; without a global writer they only keep.
#include "tests/unit/otf2/otf2_between.h"

#include <dlfcn.h>
#include <string.h>

struct otf2_group otf2_between_groups[OTF2_BETWEEN_MAX];
uint32_t otf2_between_comms[OTF2_BETWEEN_MAX];
OTF2_RegionRole otf2_between_roles[OTF2_BETWEEN_MAX];
OTF2_EvtWriter *otf2_between_events;
void (*otf2_between_change)(struct otf2_group *group);
uint64_t otf2_between_more_events;

/* The library's own function of a name. */
#define NEXT(name) ((__typeof__(&(name)))next(#name))

static void (*next(const char *name))(void)
{
	void *found = dlsym(RTLD_NEXT, name);
	void (*function)(void);

	memcpy(&function, &found, sizeof(function));
	return function;
}

// NOLINTBEGIN(readability-function-size): the signatures are the library's
OTF2_ErrorCode OTF2_GlobalDefWriter_WriteGroup(OTF2_GlobalDefWriter *writer, OTF2_GroupRef self,
					       OTF2_StringRef name, OTF2_GroupType type,
					       OTF2_Paradigm paradigm, OTF2_GroupFlag flags,
					       uint32_t count, const uint64_t *members)
{
	struct otf2_group group = { type, paradigm, count, { 0 } };
	uint32_t kept = count < OTF2_BETWEEN_MEMBERS ? count : OTF2_BETWEEN_MEMBERS;

	if (members)
		memcpy(group.members, members, kept * sizeof(*members));
	if (otf2_between_change && members && kept == count) {
		otf2_between_change(&group);
		members = group.members;
	}
	if (self < OTF2_BETWEEN_MAX)
		otf2_between_groups[self] = group;
	return writer ? NEXT(OTF2_GlobalDefWriter_WriteGroup)(writer, self, name, type, paradigm,
							      flags, group.count, members)
		      : OTF2_SUCCESS;
}

OTF2_ErrorCode OTF2_GlobalDefWriter_WriteComm(OTF2_GlobalDefWriter *writer, OTF2_CommRef self,
					      OTF2_StringRef name, OTF2_GroupRef group,
					      OTF2_CommRef parent, OTF2_CommFlag flags)
{
	if (self < OTF2_BETWEEN_MAX)
		otf2_between_comms[self] = group;
	return writer ? NEXT(OTF2_GlobalDefWriter_WriteComm)(writer, self, name, group, parent,
							     flags)
		      : OTF2_SUCCESS;
}

OTF2_ErrorCode OTF2_GlobalDefWriter_WriteRegion(OTF2_GlobalDefWriter *writer, OTF2_RegionRef self,
						OTF2_StringRef name, OTF2_StringRef canonical,
						OTF2_StringRef description, OTF2_RegionRole role,
						OTF2_Paradigm paradigm, OTF2_RegionFlag flags,
						OTF2_StringRef file, uint32_t begin_line,
						uint32_t end_line)
{
	if (self < OTF2_BETWEEN_MAX)
		otf2_between_roles[self] = role;
	return writer ? NEXT(OTF2_GlobalDefWriter_WriteRegion)(writer, self, name, canonical,
							       description, role, paradigm, flags,
							       file, begin_line, end_line)
		      : OTF2_SUCCESS;
}

OTF2_ErrorCode OTF2_GlobalDefWriter_WriteLocation(OTF2_GlobalDefWriter *writer,
						  OTF2_LocationRef self, OTF2_StringRef name,
						  OTF2_LocationType type, uint64_t event_count,
						  OTF2_LocationGroupRef group)
{
	return NEXT(OTF2_GlobalDefWriter_WriteLocation)(
		writer, self, name, type, event_count + (self == 1 ? otf2_between_more_events : 0),
		group);
}
// NOLINTEND(readability-function-size)

OTF2_EvtWriter *OTF2_Archive_GetEvtWriter(OTF2_Archive *archive, OTF2_LocationRef location)
{
	OTF2_EvtWriter *events = NEXT(OTF2_Archive_GetEvtWriter)(archive, location);

	if (location == 0)
		otf2_between_events = events;
	return events;
}
