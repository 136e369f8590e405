// SPDX-License-Identifier: BSD-3-Clause
// Callbacks that write down what they are told.
#include "tests/unit/otf2/otf2_heard.h"

#include <stdarg.h>
#include <stdlib.h>

#include "tests/lib/check.h"

static void say(struct otf2_heard *heard, OTF2_LocationRef location, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static void say(struct otf2_heard *heard, OTF2_LocationRef location, const char *format, ...)
{
	uint32_t row = (uint32_t)location ? 3 : (uint32_t)(location >> 32);
	char *text = heard->texts[row];
	size_t length = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(text + length, OTF2_HEARD_BYTES - length, format, arguments);
	va_end(arguments);
}

// NOLINTBEGIN(readability-function-size): the signatures are the library's
static OTF2_CallbackCode on_string(void *user, OTF2_StringRef self, const char *text)
{
	struct otf2_heard *heard = user;

	if (CHECK(self < 256))
		heard->strings[self] = strdup(text);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_region(void *user, OTF2_RegionRef self, OTF2_StringRef name,
				   OTF2_StringRef canonical, OTF2_StringRef description,
				   OTF2_RegionRole role, OTF2_Paradigm paradigm,
				   OTF2_RegionFlag flags, OTF2_StringRef file, uint32_t begin_line,
				   uint32_t end_line)
{
	struct otf2_heard *heard = user;

	(void)canonical;
	(void)description;
	(void)flags;
	(void)file;
	(void)begin_line;
	(void)end_line;
	if (!CHECK(self < 256))
		return OTF2_CALLBACK_SUCCESS;
	(void)snprintf(heard->regions[self], 64, "%s", heard->strings[name]);
	heard->roles[self] = (unsigned int)role << 8 | paradigm;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_group(void *user, OTF2_GroupRef self, OTF2_StringRef name,
				  OTF2_GroupType type, OTF2_Paradigm paradigm, OTF2_GroupFlag flags,
				  uint32_t count, const uint64_t *members)
{
	struct otf2_heard *heard = user;
	size_t length = 0;

	(void)name;
	(void)type;
	(void)flags;
	if (!CHECK(self < 64) || paradigm != OTF2_PARADIGM_OPENMP)
		return OTF2_CALLBACK_SUCCESS;
	for (uint32_t i = 0; i < count; i++)
		length += (size_t)snprintf(heard->groups[self] + length, 64 - length, "%s%llu",
					   i ? "," : "", (unsigned long long)members[i]);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_comm(void *user, OTF2_CommRef self, OTF2_StringRef name,
				 OTF2_GroupRef group, OTF2_CommRef parent, OTF2_CommFlag flags)
{
	struct otf2_heard *heard = user;

	(void)name;
	(void)parent;
	(void)flags;
	if (CHECK(self < 64))
		heard->comm_groups[self] = group;
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_enter(OTF2_LocationRef location, OTF2_TimeStamp time_ns, void *user,
				  OTF2_AttributeList *attributes, OTF2_RegionRef region)
{
	struct otf2_heard *heard = user;

	(void)time_ns;
	(void)attributes;
	say(user, location, "{%s ", region < 256 ? heard->regions[region] : "?");
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_leave(OTF2_LocationRef location, OTF2_TimeStamp time_ns, void *user,
				  OTF2_AttributeList *attributes, OTF2_RegionRef region)
{
	(void)time_ns;
	(void)attributes;
	(void)region;
	say(user, location, "} ");
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_fork(OTF2_LocationRef location, OTF2_TimeStamp time_ns, void *user,
				 OTF2_AttributeList *attributes, OTF2_Paradigm model,
				 uint32_t requested)
{
	(void)time_ns;
	(void)attributes;
	CHECK_UINT_EQ(model, OTF2_PARADIGM_OPENMP);
	say(user, location, "fork %u ", requested);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_join(OTF2_LocationRef location, OTF2_TimeStamp time_ns, void *user,
				 OTF2_AttributeList *attributes, OTF2_Paradigm model)
{
	(void)time_ns;
	(void)attributes;
	CHECK_UINT_EQ(model, OTF2_PARADIGM_OPENMP);
	say(user, location, "join ");
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_team_begin(OTF2_LocationRef location, OTF2_TimeStamp time_ns,
				       void *user, OTF2_AttributeList *attributes,
				       OTF2_CommRef team)
{
	struct otf2_heard *heard = user;

	(void)time_ns;
	(void)attributes;
	say(user, location, "[%s ", team < 64 ? heard->groups[heard->comm_groups[team]] : "?");
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_team_end(OTF2_LocationRef location, OTF2_TimeStamp time_ns, void *user,
				     OTF2_AttributeList *attributes, OTF2_CommRef team)
{
	(void)time_ns;
	(void)attributes;
	(void)team;
	say(user, location, "] ");
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_acquire(OTF2_LocationRef location, OTF2_TimeStamp time_ns, void *user,
				    OTF2_AttributeList *attributes, OTF2_Paradigm model,
				    uint32_t lock, uint32_t order)
{
	(void)time_ns;
	(void)attributes;
	(void)model;
	say(user, location, "take %u/%u ", lock, order);
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode on_release(OTF2_LocationRef location, OTF2_TimeStamp time_ns, void *user,
				    OTF2_AttributeList *attributes, OTF2_Paradigm model,
				    uint32_t lock, uint32_t order)
{
	(void)time_ns;
	(void)attributes;
	(void)model;
	say(user, location, "give %u/%u ", lock, order);
	return OTF2_CALLBACK_SUCCESS;
}

#define TASK_EVENT(event, word)                                                                    \
	static OTF2_CallbackCode on_task_##event(OTF2_LocationRef location,                        \
						 OTF2_TimeStamp time_ns, void *user,               \
						 OTF2_AttributeList *attributes,                   \
						 OTF2_CommRef team, uint32_t creator,              \
						 uint32_t generation)                              \
	{                                                                                          \
		(void)time_ns;                                                                     \
		(void)attributes;                                                                  \
		(void)team;                                                                        \
		say(user, location, word " %u.%u ", creator, generation);                          \
		return OTF2_CALLBACK_SUCCESS;                                                      \
	}

TASK_EVENT(create, "make")
TASK_EVENT(switch, "to")
TASK_EVENT(complete, "done")
// NOLINTEND(readability-function-size)

static void read_definitions(OTF2_Reader *reader, struct otf2_heard *heard)
{
	OTF2_GlobalDefReaderCallbacks *calls = OTF2_GlobalDefReaderCallbacks_New();
	OTF2_GlobalDefReader *global = OTF2_Reader_GetGlobalDefReader(reader);
	uint64_t count;

	(void)OTF2_GlobalDefReaderCallbacks_SetStringCallback(calls, on_string);
	(void)OTF2_GlobalDefReaderCallbacks_SetRegionCallback(calls, on_region);
	(void)OTF2_GlobalDefReaderCallbacks_SetGroupCallback(calls, on_group);
	(void)OTF2_GlobalDefReaderCallbacks_SetCommCallback(calls, on_comm);
	(void)OTF2_Reader_RegisterGlobalDefCallbacks(reader, global, calls, heard);
	CHECK_INT_EQ(OTF2_Reader_ReadAllGlobalDefinitions(reader, global, &count), OTF2_SUCCESS);
	OTF2_GlobalDefReaderCallbacks_Delete(calls);
}

static void read_events(OTF2_Reader *reader, struct otf2_heard *heard)
{
	OTF2_GlobalEvtReaderCallbacks *calls = OTF2_GlobalEvtReaderCallbacks_New();
	OTF2_GlobalEvtReader *events;
	uint64_t count;

	(void)OTF2_GlobalEvtReaderCallbacks_SetEnterCallback(calls, on_enter);
	(void)OTF2_GlobalEvtReaderCallbacks_SetLeaveCallback(calls, on_leave);
	(void)OTF2_GlobalEvtReaderCallbacks_SetThreadForkCallback(calls, on_fork);
	(void)OTF2_GlobalEvtReaderCallbacks_SetThreadJoinCallback(calls, on_join);
	(void)OTF2_GlobalEvtReaderCallbacks_SetThreadTeamBeginCallback(calls, on_team_begin);
	(void)OTF2_GlobalEvtReaderCallbacks_SetThreadTeamEndCallback(calls, on_team_end);
	(void)OTF2_GlobalEvtReaderCallbacks_SetThreadAcquireLockCallback(calls, on_acquire);
	(void)OTF2_GlobalEvtReaderCallbacks_SetThreadReleaseLockCallback(calls, on_release);
	(void)OTF2_GlobalEvtReaderCallbacks_SetThreadTaskCreateCallback(calls, on_task_create);
	(void)OTF2_GlobalEvtReaderCallbacks_SetThreadTaskSwitchCallback(calls, on_task_switch);
	(void)OTF2_GlobalEvtReaderCallbacks_SetThreadTaskCompleteCallback(calls, on_task_complete);
	events = OTF2_Reader_GetGlobalEvtReader(reader);
	(void)OTF2_Reader_RegisterGlobalEvtCallbacks(reader, events, calls, heard);
	CHECK_INT_EQ(OTF2_Reader_ReadAllGlobalEvents(reader, events, &count), OTF2_SUCCESS);
	(void)OTF2_Reader_CloseGlobalEvtReader(reader, events);
	OTF2_GlobalEvtReaderCallbacks_Delete(calls);
}

OTF2_Reader *otf2_heard_read(struct otf2_heard *heard, const char *directory)
{
	static const OTF2_LocationRef locations[] = { 0, 1ull << 32, 2ull << 32, 1 };
	char anchor[256];
	OTF2_Reader *reader;

	(void)snprintf(anchor, sizeof(anchor), "%s/traces.otf2", directory);
	reader = OTF2_Reader_Open(anchor);
	(void)OTF2_Reader_SetSerialCollectiveCallbacks(reader);
	read_definitions(reader, heard);
	for (size_t i = 0; i < OTF2_HEARD_LOCATIONS; i++)
		(void)OTF2_Reader_SelectLocation(reader, locations[i]);
	(void)OTF2_Reader_OpenDefFiles(reader);
	(void)OTF2_Reader_OpenEvtFiles(reader);
	for (size_t i = 0; i < OTF2_HEARD_LOCATIONS; i++) {
		OTF2_DefReader *local = OTF2_Reader_GetDefReader(reader, locations[i]);
		uint64_t count;

		CHECK_INT_EQ(OTF2_Reader_ReadAllLocalDefinitions(reader, local, &count),
			     OTF2_SUCCESS);
		(void)OTF2_Reader_CloseDefReader(reader, local);
		CHECK(OTF2_Reader_GetEvtReader(reader, locations[i]) != NULL);
	}
	read_events(reader, heard);
	return reader;
}

void otf2_heard_fini(struct otf2_heard *heard)
{
	for (size_t i = 0; i < 256; i++)
		free(heard->strings[i]);
}
