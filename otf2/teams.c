// SPDX-License-Identifier: BSD-3-Clause
// Teams and locks of OpenMP as event records, and their groups.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "otf2/together.h"

#define NAME_BYTES 192
#define ORPHANS (1ull << 62) /* the team of those whose primary is not known */
#define DEPTH_BITS 4u
#define SIZE_BITS 16u
#define LOCK_BITS 47u /* of a user address; the group's number goes above */

_Static_assert(CRIT_OTF2_TEAM_DEPTH <= 1u << DEPTH_BITS && CRIT_INSTANCE_TEAM_MAX < 1u << SIZE_BITS,
	       "room in a team's key");

void crit_otf2_openmp_init(struct crit_otf2_openmp *openmp)
{
	*openmp = (struct crit_otf2_openmp){ 0 };
	crit_otf2_live_init(&openmp->instances);
	crit_otf2_live_init(&openmp->tasks);
}

void crit_otf2_openmp_fini(struct crit_otf2_openmp *openmp)
{
	size_t i;

	for (i = 0; i < openmp->team_count; i++)
		free(openmp->teams[i].members);
	free(openmp->teams);
	free(openmp->team_order);
	free(openmp->constructs);
	free(openmp->locks);
	crit_map_fini(&openmp->team_numbers);
	crit_map_fini(&openmp->memberships);
	crit_index_fini(&openmp->construct_numbers);
	crit_map_fini(&openmp->lock_numbers);
	crit_otf2_live_fini(&openmp->instances);
	crit_otf2_live_fini(&openmp->tasks);
}

/* What a location is in; made at first use.  NULL: out of memory. */
static struct crit_otf2_member *member_of(struct crit_otf2_location *location)
{
	if (!location->member)
		location->member = calloc(1, sizeof(*location->member));
	return location->member;
}

/* Errors: -ENOMEM, or its index. */
static int64_t add_team(struct crit_otf2_writer *writer, uint32_t group)
{
	struct crit_otf2_openmp *openmp = &writer->openmp;
	uint32_t team = (uint32_t)openmp->team_count;

	if (crit_array_grow(&openmp->teams, &openmp->team_capacity, team + 1u,
			    sizeof(*openmp->teams)))
		return -ENOMEM;
	openmp->teams[team] =
		(struct crit_otf2_team){ .group = group, .next = writer->groups[group].first_team };
	writer->groups[group].first_team = team;
	writer->groups[group].team_count++;
	openmp->team_count++;
	return team;
}

/* The team of a key.  Errors: -ENOMEM, or its index. */
static int64_t obtain_team(struct crit_otf2_writer *writer, uint64_t key, uint32_t group)
{
	uint32_t known = crit_map_get(&writer->openmp.team_numbers, key);
	int64_t team = known != CRIT_NONE ? known : add_team(writer, group);

	if (team >= 0 && known == CRIT_NONE &&
	    crit_map_set(&writer->openmp.team_numbers, key, (uint32_t)team))
		return -ENOMEM;
	return team;
}

static int add_member(struct crit_otf2_team *team, uint32_t row)
{
	int rc = crit_array_grow(&team->members, &team->capacity, team->count + 1,
				 sizeof(*team->members));

	if (!rc)
		team->members[team->count++] = row;
	return rc;
}

/* Notes that a location is in a team.  Errors: -ENOMEM, or its position there. */
static int64_t join(struct crit_otf2_writer *writer, const struct crit_otf2_location *location,
		    uint32_t number)
{
	struct crit_otf2_openmp *openmp = &writer->openmp;
	uint32_t row = (uint32_t)(location - writer->locations);
	uint64_t key = (uint64_t)number << 32 | row;
	uint32_t position = crit_map_get(&openmp->memberships, key);

	if (position != CRIT_NONE)
		return position;
	position = (uint32_t)openmp->teams[number].count;
	if (crit_map_set(&openmp->memberships, key, position) ||
	    add_member(&openmp->teams[number], row))
		return -ENOMEM;
	return position;
}

int crit_otf2_add_team(struct crit_otf2_writer *writer, uint32_t group, uint32_t size,
		       const uint32_t *members, size_t count)
{
	int64_t team = add_team(writer, group);
	size_t i;
	int rc = team < 0 ? (int)team : 0;

	if (!rc)
		writer->openmp.teams[team].size = size;
	for (i = 0; i < count && !rc; i++)
		rc = add_member(&writer->openmp.teams[team], members[i]);
	return rc;
}

/* One more member has come to an instance. */
static void count_member(struct crit_otf2_openmp *openmp, struct crit_otf2_object *instance)
{
	struct crit_otf2_team *team = &openmp->teams[instance->team];

	if (++instance->members > team->size)
		team->size = instance->members;
}

/* The team of an instance its primary begins.  Errors: -ENOMEM, or its index. */
static int64_t fork_team(struct crit_otf2_writer *writer, const struct crit_otf2_location *location,
			 uint64_t instance)
{
	uint64_t row = (uint64_t)(location - writer->locations);
	uint64_t depth = location->member->depth;
	uint64_t key = (row << DEPTH_BITS | depth) << SIZE_BITS | CRIT_INSTANCE_TEAM(instance);
	struct crit_otf2_object *live;
	int64_t team;
	int rc;

	if (writer->groups[location->group].team_count >= CRIT_OTF2_CONSTRUCTS_MAX)
		key = ORPHANS | location->group;
	team = obtain_team(writer, key, location->group);
	if (team < 0)
		return team;
	rc = crit_otf2_live_add(&writer->openmp.instances, location->group,
				CRIT_INSTANCE_NUMBER(instance), &live);
	if (rc == -ENOSPC) {
		writer->openmp.lost_teams++;
	} else if (!rc) {
		live->team = (uint32_t)team;
		count_member(&writer->openmp, live);
	}
	return rc && rc != -ENOSPC ? rc : team;
}

/* The team of an instance somebody else began.  Errors: -ENOMEM, or its index. */
static int64_t find_team(struct crit_otf2_writer *writer, const struct crit_otf2_location *location,
			 uint64_t instance)
{
	struct crit_otf2_object *live = crit_otf2_live_find(
		&writer->openmp.instances, location->group, CRIT_INSTANCE_NUMBER(instance));

	if (live) {
		count_member(&writer->openmp, live);
		return live->team;
	}
	writer->openmp.lost_teams++;
	return obtain_team(writer, ORPHANS | location->group, location->group);
}

int crit_otf2_team_enter(struct crit_otf2_writer *writer, struct crit_otf2_location *location,
			 uint64_t time_ns, const struct crit_trace_span *span)
{
	uint64_t instance = span->arg;
	bool is_primary = (instance & CRIT_INSTANCE_PRIMARY) != 0;
	struct crit_otf2_member *member = member_of(location);
	OTF2_ErrorCode code = OTF2_SUCCESS;
	int64_t team, position;

	if (!member)
		return -ENOMEM;
	if (member->depth >= CRIT_OTF2_TEAM_DEPTH) {
		member->depth++;
		writer->openmp.lost_teams++;
		return 0;
	}
	team = is_primary ? fork_team(writer, location, instance)
			  : find_team(writer, location, instance);
	position = team < 0 ? team : join(writer, location, (uint32_t)team);
	if (position < 0)
		return (int)position;
	member->frames[member->depth].instance = CRIT_INSTANCE_NUMBER(instance);
	member->frames[member->depth].site = span->site;
	member->frames[member->depth].team = (uint32_t)team;
	member->frames[member->depth].position = (uint32_t)position;
	member->frames[member->depth++].is_primary = is_primary;
	writer->openmp.forks += is_primary;
	if (is_primary)
		code = OTF2_EvtWriter_ThreadFork(location->events, NULL, time_ns,
						 OTF2_PARADIGM_OPENMP,
						 (uint32_t)CRIT_INSTANCE_TEAM(instance));
	if (code == OTF2_SUCCESS)
		code = OTF2_EvtWriter_ThreadTeamBegin(location->events, NULL, time_ns,
						      CRIT_OTF2_TEAM_BASE + (uint32_t)team);
	return crit_otf2_check(writer, code, "an event");
}

int crit_otf2_team_leave(struct crit_otf2_writer *writer, struct crit_otf2_location *location,
			 uint64_t time_ns)
{
	struct crit_otf2_member *member = location->member;
	OTF2_ErrorCode code;

	if (!member || !member->depth) /* it was entered before the thread was told of */
		return 0;
	if (--member->depth >= CRIT_OTF2_TEAM_DEPTH)
		return 0;
	code = OTF2_EvtWriter_ThreadTeamEnd(location->events, NULL, time_ns,
					    CRIT_OTF2_TEAM_BASE +
						    member->frames[member->depth].team);
	if (code == OTF2_SUCCESS && member->frames[member->depth].is_primary) {
		crit_otf2_live_remove(&writer->openmp.instances, location->group,
				      member->frames[member->depth].instance);
		code = OTF2_EvtWriter_ThreadJoin(location->events, NULL, time_ns,
						 OTF2_PARADIGM_OPENMP);
	}
	return crit_otf2_check(writer, code, "an event");
}

/* A lock's index; its number follows from its group.  Errors: CRIT_NONE when out of memory. */
static uint32_t obtain_lock(struct crit_otf2_writer *writer, uint32_t group, uint64_t lock)
{
	struct crit_otf2_openmp *openmp = &writer->openmp;
	uint64_t key = (uint64_t)group << LOCK_BITS ^ (lock & ((1ull << LOCK_BITS) - 1));
	uint32_t index = crit_map_get(&openmp->lock_numbers, key);

	if (index != CRIT_NONE)
		return index;
	index = (uint32_t)openmp->lock_count;
	if (crit_array_grow(&openmp->locks, &openmp->lock_capacity, index + 1u,
			    sizeof(*openmp->locks)) ||
	    crit_map_set(&openmp->lock_numbers, key, index))
		return CRIT_NONE;
	openmp->locks[openmp->lock_count++].number =
		writer->groups[group].lock_count++ * writer->told_groups + group;
	return index;
}

int crit_otf2_lock_taken(struct crit_otf2_writer *writer, struct crit_otf2_location *location,
			 uint64_t time_ns, uint64_t lock)
{
	struct crit_otf2_member *member = member_of(location);
	uint32_t index = obtain_lock(writer, location->group, lock), order;

	if (!member || index == CRIT_NONE)
		return -ENOMEM;
	if (member->held_count >= CRIT_OTF2_LOCKS_HELD) {
		writer->openmp.lost_locks++;
		return 0;
	}
	order = ++writer->openmp.locks[index].order;
	writer->openmp.acquisitions++;
	member->held[member->held_count].lock = index;
	member->held[member->held_count++].order = order;
	return crit_otf2_check(writer,
			       OTF2_EvtWriter_ThreadAcquireLock(
				       location->events, NULL, time_ns, OTF2_PARADIGM_OPENMP,
				       writer->openmp.locks[index].number, order),
			       "an event");
}

/* Takes the innermost hold of a lock out: its order, or 0 when it is not held. */
static uint32_t let_go(struct crit_otf2_member *member, uint32_t lock)
{
	uint32_t i = member ? member->held_count : 0, order;

	while (i > 0 && member->held[i - 1].lock != lock)
		i--;
	if (!i)
		return 0;
	order = member->held[i - 1].order;
	for (member->held_count--; i <= member->held_count; i++)
		member->held[i - 1] = member->held[i];
	return order;
}

/* Answers 1 when the thread had the lock, 0 if it had not.  Errors: -ENOMEM, -EIO. */
static int give_back(struct crit_otf2_writer *writer, const struct crit_otf2_location *location,
		     uint64_t time_ns, uint64_t lock)
{
	uint32_t index = obtain_lock(writer, location->group, lock), order;
	int rc;

	if (index == CRIT_NONE)
		return -ENOMEM;
	order = let_go(location->member, index);
	if (!order)
		return 0;
	rc = crit_otf2_check(writer,
			     OTF2_EvtWriter_ThreadReleaseLock(
				     location->events, NULL, time_ns, OTF2_PARADIGM_OPENMP,
				     writer->openmp.locks[index].number, order),
			     "an event");
	return rc ? rc : 1;
}

int crit_otf2_section_left(struct crit_otf2_writer *writer,
			   const struct crit_otf2_location *location, uint64_t time_ns,
			   uint64_t lock)
{
	int rc = lock ? give_back(writer, location, time_ns, lock) : 0;

	return rc < 0 ? rc : 0;
}

int crit_otf2_lock_released(void *user, uint32_t thread, uint64_t time_ns, uint16_t call,
			    uint64_t lock)
{
	struct crit_otf2_writer *writer = user;
	struct crit_otf2_location *location;
	const OTF2_EvtWriter *events;
	int rc;

	(void)call;
	events = crit_otf2_writer_of(writer, thread, &location, &time_ns, &rc);
	if (!events)
		return rc;
	rc = give_back(writer, location, time_ns, lock);
	writer->openmp.lost_locks += rc == 0; /* nobody saw it taken */
	return rc < 0 ? rc : 0;
}

/* By group, whatever the order in which they were found.  Errors: -ENOMEM. */
int crit_otf2_name_teams(struct crit_otf2_writer *writer)
{
	struct crit_otf2_openmp *openmp = &writer->openmp;
	uint32_t count = 0, group, i;
	char name[NAME_BYTES];

	openmp->team_order = calloc(openmp->team_count + 1, sizeof(*openmp->team_order));
	if (!openmp->team_order)
		return -ENOMEM;
	for (group = 0; group < writer->group_count; group++) {
		for (i = writer->groups[group].first_team; i != CRIT_NONE;
		     i = openmp->teams[i].next) {
			struct crit_otf2_team *team = &openmp->teams[i];
			const struct crit_otf2_location *primary =
				&writer->locations[team->members[0]];

			(void)snprintf(name, sizeof(name), "Team of %u, %.80s, %.80s",
				       team->size ? team->size : (uint32_t)team->count,
				       writer->strings.texts[writer->groups[group].name],
				       writer->strings.texts[primary->name]);
			team->name = crit_otf2_string(&writer->strings, name);
			if (team->name == CRIT_NONE)
				return -ENOMEM;
			team->communicator = (uint32_t)writer->communicator_count + count;
			openmp->team_order[count++] = i;
		}
	}
	return 0;
}

/* COMM_LOCATIONS: every location that is in a team, in their order. */
static OTF2_ErrorCode write_team_locations(struct crit_otf2_writer *writer,
					   OTF2_GlobalDefWriter *global, uint32_t reference,
					   uint32_t name, uint64_t *members)
{
	const struct crit_otf2_openmp *openmp = &writer->openmp;
	uint32_t count = 0, i;
	size_t k;

	for (i = 0; i < writer->location_count; i++) /* rows that are no locations as well */
		writer->locations[i].team_index = CRIT_NONE;
	for (i = 0; i < openmp->team_count; i++) {
		for (k = 0; k < openmp->teams[i].count; k++)
			writer->locations[openmp->teams[i].members[k]].team_index = 0;
	}
	for (i = 0; i < writer->location_count; i++) {
		if (writer->locations[i].team_index == CRIT_NONE)
			continue;
		members[count] = writer->locations[i].reference;
		writer->locations[i].team_index = count++;
	}
	return OTF2_GlobalDefWriter_WriteGroup(global, reference, name,
					       OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_OPENMP,
					       OTF2_GROUP_FLAG_NONE, count, members);
}

OTF2_ErrorCode crit_otf2_write_team_groups(struct crit_otf2_writer *writer,
					   OTF2_GlobalDefWriter *global, uint32_t first,
					   uint32_t name)
{
	const struct crit_otf2_openmp *openmp = &writer->openmp;
	uint64_t *members = calloc(writer->location_count + 1, sizeof(*members));
	OTF2_ErrorCode code = OTF2_ERROR_MEM_ALLOC_FAILED;
	uint32_t i, k;

	if (members)
		code = !openmp->team_count
			       ? OTF2_SUCCESS
			       : write_team_locations(writer, global, first, name, members);
	for (i = 0; i < openmp->team_count && code == OTF2_SUCCESS; i++) {
		const struct crit_otf2_team *team = &openmp->teams[openmp->team_order[i]];

		for (k = 0; k < team->count; k++)
			members[k] = writer->locations[team->members[k]].team_index;
		code = OTF2_GlobalDefWriter_WriteGroup(global, first + 1 + i, team->name,
						       OTF2_GROUP_TYPE_COMM_GROUP,
						       OTF2_PARADIGM_OPENMP, OTF2_GROUP_FLAG_NONE,
						       (uint32_t)team->count, members);
	}
	free(members);
	return code;
}

OTF2_ErrorCode crit_otf2_write_team_comms(struct crit_otf2_writer *writer,
					  OTF2_GlobalDefWriter *global, uint32_t first_group)
{
	const struct crit_otf2_openmp *openmp = &writer->openmp;
	OTF2_ErrorCode code = OTF2_SUCCESS;
	uint32_t i;

	for (i = 0; i < openmp->team_count && code == OTF2_SUCCESS; i++) {
		const struct crit_otf2_team *team = &openmp->teams[openmp->team_order[i]];

		code = OTF2_GlobalDefWriter_WriteComm(global, team->communicator, team->name,
						      first_group + 1 + i, OTF2_UNDEFINED_COMM,
						      OTF2_COMM_FLAG_NONE);
	}
	return code;
}
