// SPDX-License-Identifier: BSD-3-Clause
// Finds the team of each instance, writes its events, and numbers and defines teams at the end.
#include "otf2/openmp/team_records.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/abi/abi_slot.h"
#include "core/base/array.h"
#include "core/base/map.h"
#include "otf2/openmp/live_objects.h"

#define NAME_BYTES 192
#define ORPHANS (1ull << 62) /* the team of members whose primary is not known */
#define DEPTH_BITS 4u
#define SIZE_BITS 16u

_Static_assert(CRIT_OTF2_TEAM_DEPTH <= 1u << DEPTH_BITS && CRIT_INSTANCE_TEAM_MAX < 1u << SIZE_BITS,
	       "room in a team's key");

struct thread_team {
	uint32_t group; /* location group */
	uint32_t next; /* of the same group, CRIT_NONE */
	uint32_t size; /* of the largest instance so far */
	uint32_t name, communicator; /* string and reference, once all events are written */
	uint32_t *members; /* rows of locations, the primary first */
	size_t count, capacity;
};

struct team_list { /* of a group */
	uint32_t first, count;
};

struct entered { /* instance */
	struct crit_otf2_frame frame;
	uint64_t instance;
	bool is_primary;
};

struct member { /* a location */
	uint32_t depth;
	struct entered entered[CRIT_OTF2_TEAM_DEPTH];
};

struct crit_otf2_teams {
	struct crit_otf2_files *files;
	const struct crit_otf2_layout *layout;
	struct thread_team *rows;
	size_t count, capacity;
	struct team_list *lists; /* by group */
	uint32_t *order; /* as their communicators are numbered, once all events are written */
	struct crit_map numbers; /* location, depth and size, or group -> index */
	struct crit_map memberships; /* team << 32 | row of the location -> position */
	struct crit_otf2_live instances;
	struct member *members; /* by row of the location; memory that is never touched is none */
	uint64_t forks;
	uint64_t lost; /* members of instances that were not forked, or no room */
};

struct shared_team_counts { /* to process 0 */
	uint64_t forks, lost, team_count;
};

struct shared_team { /* and its members' rows behind it */
	uint32_t group, size, member_count, reserved;
};

struct crit_otf2_teams *crit_otf2_teams_create(struct crit_otf2_files *files,
					       const struct crit_otf2_layout *layout)
{
	struct crit_otf2_teams *teams = calloc(1, sizeof(*teams));
	size_t groups = crit_otf2_layout_group_count(layout) + 1, i; /* the stranger's */

	if (!teams)
		return NULL;
	*teams = (struct crit_otf2_teams){
		.files = files,
		.layout = layout,
		.lists = calloc(groups, sizeof(*teams->lists)),
		.members =
			calloc(crit_otf2_layout_location_count(layout) + 1, sizeof(struct member)),
	};
	crit_otf2_live_init(&teams->instances);
	for (i = 0; teams->lists && i < groups; i++)
		teams->lists[i].first = CRIT_NONE;
	if (teams->lists && teams->members)
		return teams;
	crit_otf2_teams_destroy(teams);
	return NULL;
}

void crit_otf2_teams_destroy(struct crit_otf2_teams *teams)
{
	if (!teams)
		return;
	for (size_t i = 0; i < teams->count; i++)
		free(teams->rows[i].members);
	free(teams->members);
	free(teams->rows);
	free(teams->lists);
	free(teams->order);
	crit_map_fini(&teams->numbers);
	crit_map_fini(&teams->memberships);
	crit_otf2_live_fini(&teams->instances);
	free(teams);
}

/* Errors: -ENOMEM, or its index. */
static int64_t add_team(struct crit_otf2_teams *teams, uint32_t group)
{
	uint32_t team = (uint32_t)teams->count;

	if (crit_array_grow(&teams->rows, &teams->capacity, team + 1u, sizeof(*teams->rows)))
		return -ENOMEM;
	teams->rows[team] =
		(struct thread_team){ .group = group, .next = teams->lists[group].first };
	teams->lists[group].first = team;
	teams->lists[group].count++;
	teams->count++;
	return team;
}

/* The team of a key.  Errors: -ENOMEM, or its index. */
static int64_t obtain_team(struct crit_otf2_teams *teams, uint64_t key, uint32_t group)
{
	uint32_t known = crit_map_get(&teams->numbers, key);
	int64_t team = known != CRIT_NONE ? known : add_team(teams, group);

	if (team >= 0 && known == CRIT_NONE && crit_map_set(&teams->numbers, key, (uint32_t)team))
		return -ENOMEM;
	return team;
}

static int add_member(struct thread_team *team, uint32_t row)
{
	int rc = crit_array_grow(&team->members, &team->capacity, team->count + 1,
				 sizeof(*team->members));

	if (!rc)
		team->members[team->count++] = row;
	return rc;
}

/* Notes that a location is in a team.  Errors: -ENOMEM, or its position there. */
static int64_t join(struct crit_otf2_teams *teams, uint32_t row, uint32_t number)
{
	uint64_t key = (uint64_t)number << 32 | row;
	uint32_t position = crit_map_get(&teams->memberships, key);

	if (position != CRIT_NONE)
		return position;
	position = (uint32_t)teams->rows[number].count;
	if (crit_map_set(&teams->memberships, key, position) ||
	    add_member(&teams->rows[number], row))
		return -ENOMEM;
	return position;
}

/* One more member has come to an instance. */
static void count_member(struct crit_otf2_teams *teams, struct crit_otf2_object *instance)
{
	struct thread_team *team = &teams->rows[instance->team];

	if (++instance->members > team->size)
		team->size = instance->members;
}

/* The team of an instance its primary begins.  Errors: -ENOMEM, or its index. */
static int64_t fork_team(struct crit_otf2_teams *teams, const struct crit_otf2_moment *at,
			 uint64_t instance)
{
	uint64_t depth = teams->members[at->row].depth;
	uint64_t key = ((uint64_t)at->row << DEPTH_BITS | depth) << SIZE_BITS |
		       CRIT_INSTANCE_TEAM(instance);
	struct crit_otf2_object *live;
	int64_t team;
	int rc;

	if (teams->lists[at->group].count >= CRIT_OTF2_TEAMS_MAX_OF_GROUP)
		key = ORPHANS | at->group;
	team = obtain_team(teams, key, at->group);
	if (team < 0)
		return team;
	rc = crit_otf2_live_add(&teams->instances, at->group, CRIT_INSTANCE_NUMBER(instance),
				&live);
	if (rc == -ENOSPC) {
		teams->lost++;
	} else if (!rc) {
		live->team = (uint32_t)team;
		count_member(teams, live);
	}
	return rc && rc != -ENOSPC ? rc : team;
}

/* The team of an instance that another thread began.  Errors: -ENOMEM, or its index. */
static int64_t find_team(struct crit_otf2_teams *teams, const struct crit_otf2_moment *at,
			 uint64_t instance)
{
	struct crit_otf2_object *live =
		crit_otf2_live_find(&teams->instances, at->group, CRIT_INSTANCE_NUMBER(instance));

	if (live) {
		count_member(teams, live);
		return live->team;
	}
	teams->lost++;
	return obtain_team(teams, ORPHANS | at->group, at->group);
}

static int write_enter(struct crit_otf2_teams *teams, const struct crit_otf2_moment *at,
		       const struct entered *entered, uint64_t instance)
{
	OTF2_ErrorCode code = OTF2_SUCCESS;

	if (entered->is_primary)
		code = OTF2_EvtWriter_ThreadFork(at->events, NULL, at->time_ns,
						 OTF2_PARADIGM_OPENMP,
						 (uint32_t)CRIT_INSTANCE_TEAM(instance));
	if (code == OTF2_SUCCESS)
		code = OTF2_EvtWriter_ThreadTeamBegin(at->events, NULL, at->time_ns,
						      CRIT_OTF2_TEAM_BASE + entered->frame.team);
	return crit_otf2_check(teams->files, code, "an event");
}

int crit_otf2_teams_enter(struct crit_otf2_teams *teams, const struct crit_otf2_moment *at,
			  const struct crit_trace_span *span)
{
	bool is_primary = (span->arg & CRIT_INSTANCE_PRIMARY) != 0;
	struct member *member = &teams->members[at->row];
	struct entered *entered;
	int64_t team, position;

	if (member->depth >= CRIT_OTF2_TEAM_DEPTH) {
		member->depth++;
		teams->lost++;
		return 0;
	}
	team = is_primary ? fork_team(teams, at, span->arg) : find_team(teams, at, span->arg);
	position = team < 0 ? team : join(teams, at->row, (uint32_t)team);
	if (position < 0)
		return (int)position;
	entered = &member->entered[member->depth++];
	*entered = (struct entered){ .frame = { span->site, (uint32_t)team, (uint32_t)position },
				     .instance = CRIT_INSTANCE_NUMBER(span->arg),
				     .is_primary = is_primary };
	teams->forks += is_primary;
	return write_enter(teams, at, entered, span->arg);
}

int crit_otf2_teams_leave(struct crit_otf2_teams *teams, const struct crit_otf2_moment *at)
{
	struct member *member = &teams->members[at->row];
	const struct entered *entered;
	OTF2_ErrorCode code;

	if (!member->depth) /* it was entered before the thread was told of */
		return 0;
	if (--member->depth >= CRIT_OTF2_TEAM_DEPTH)
		return 0;
	entered = &member->entered[member->depth];
	code = OTF2_EvtWriter_ThreadTeamEnd(at->events, NULL, at->time_ns,
					    CRIT_OTF2_TEAM_BASE + entered->frame.team);
	if (code == OTF2_SUCCESS && entered->is_primary) {
		crit_otf2_live_remove(&teams->instances, at->group, entered->instance);
		code = OTF2_EvtWriter_ThreadJoin(at->events, NULL, at->time_ns,
						 OTF2_PARADIGM_OPENMP);
	}
	return crit_otf2_check(teams->files, code, "an event");
}

uint32_t crit_otf2_teams_depth(const struct crit_otf2_teams *teams, uint32_t row)
{
	return teams->members[row].depth;
}

const struct crit_otf2_frame *crit_otf2_teams_innermost(const struct crit_otf2_teams *teams,
							uint32_t row)
{
	uint32_t depth = crit_otf2_teams_depth(teams, row);

	return depth && depth <= CRIT_OTF2_TEAM_DEPTH
		       ? &teams->members[row].entered[depth - 1].frame
		       : NULL;
}

bool crit_otf2_teams_are_whole(const struct crit_otf2_teams *teams)
{
	/* without a fork it is not known whether there was none, or no tool to tell of it */
	return teams->forks && !teams->lost;
}

static int name_team(struct crit_otf2_teams *teams, struct thread_team *team,
		     struct crit_otf2_strings *strings)
{
	const struct crit_otf2_location *primary =
		crit_otf2_layout_location(teams->layout, team->members[0]);
	uint32_t group_name = crit_otf2_layout_group(teams->layout, team->group)->name;
	char name[NAME_BYTES];

	(void)snprintf(name, sizeof(name), "Team of %u, %.80s, %.80s",
		       team->size ? team->size : (uint32_t)team->count,
		       crit_otf2_strings_text(strings, group_name),
		       crit_otf2_strings_text(strings, primary->name));
	team->name = crit_otf2_string(strings, name);
	return team->name == CRIT_NONE ? -ENOMEM : 0;
}

/* By group, whatever the order in which they were found. */
int crit_otf2_teams_name(struct crit_otf2_teams *teams, struct crit_otf2_strings *strings,
			 size_t communicator_count)
{
	uint32_t count = 0;

	teams->order = calloc(teams->count + 1, sizeof(*teams->order));
	if (!teams->order)
		return -ENOMEM;
	for (uint32_t group = 0; group < crit_otf2_layout_group_count(teams->layout); group++) {
		for (uint32_t i = teams->lists[group].first; i != CRIT_NONE;
		     i = teams->rows[i].next) {
			if (name_team(teams, &teams->rows[i], strings))
				return -ENOMEM;
			teams->rows[i].communicator = (uint32_t)communicator_count + count;
			teams->order[count++] = i;
		}
	}
	return 0;
}

void crit_otf2_teams_map(const struct crit_otf2_teams *teams, uint32_t group, OTF2_IdMap *map)
{
	for (uint32_t i = teams->lists[group].first; i != CRIT_NONE; i = teams->rows[i].next)
		(void)OTF2_IdMap_AddIdPair(map, CRIT_OTF2_TEAM_BASE + i,
					   teams->rows[i].communicator);
}

/* COMM_LOCATIONS: every location that is in a team, in their order; indexes there by row. */
static OTF2_ErrorCode write_locations(const struct crit_otf2_teams *teams,
				      OTF2_GlobalDefWriter *global, uint32_t reference,
				      uint32_t name, uint32_t *indexes, uint64_t *members)
{
	size_t most = crit_otf2_layout_location_count(teams->layout), k;
	uint32_t count = 0;

	for (uint32_t i = 0; i < most; i++) /* rows that are no locations as well */
		indexes[i] = CRIT_NONE;
	for (uint32_t i = 0; i < teams->count; i++) {
		for (k = 0; k < teams->rows[i].count; k++)
			indexes[teams->rows[i].members[k]] = 0;
	}
	for (uint32_t i = 0; i < most; i++) {
		if (indexes[i] == CRIT_NONE)
			continue;
		members[count] = crit_otf2_layout_location(teams->layout, i)->reference;
		indexes[i] = count++;
	}
	return OTF2_GlobalDefWriter_WriteGroup(global, reference, name,
					       OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_OPENMP,
					       OTF2_GROUP_FLAG_NONE, count, members);
}

OTF2_ErrorCode crit_otf2_teams_write_groups(const struct crit_otf2_teams *teams,
					    OTF2_GlobalDefWriter *global, uint32_t first,
					    uint32_t name)
{
	size_t most = crit_otf2_layout_location_count(teams->layout);
	uint64_t *members = calloc(most + 1, sizeof(*members));
	uint32_t *indexes = calloc(most + 1, sizeof(*indexes));
	OTF2_ErrorCode code = OTF2_ERROR_MEM_ALLOC_FAILED;

	if (members && indexes)
		code = !teams->count
			       ? OTF2_SUCCESS
			       : write_locations(teams, global, first, name, indexes, members);
	for (uint32_t i = 0; i < teams->count && code == OTF2_SUCCESS; i++) {
		const struct thread_team *team = &teams->rows[teams->order[i]];

		for (uint32_t k = 0; k < team->count; k++)
			members[k] = indexes[team->members[k]];
		code = OTF2_GlobalDefWriter_WriteGroup(global, first + 1 + i, team->name,
						       OTF2_GROUP_TYPE_COMM_GROUP,
						       OTF2_PARADIGM_OPENMP, OTF2_GROUP_FLAG_NONE,
						       (uint32_t)team->count, members);
	}
	free(members);
	free(indexes);
	return code;
}

OTF2_ErrorCode crit_otf2_teams_write(const struct crit_otf2_teams *teams,
				     OTF2_GlobalDefWriter *global, uint32_t first_group)
{
	OTF2_ErrorCode code = OTF2_SUCCESS;

	for (uint32_t i = 0; i < teams->count && code == OTF2_SUCCESS; i++) {
		const struct thread_team *team = &teams->rows[teams->order[i]];

		code = OTF2_GlobalDefWriter_WriteComm(global, team->communicator, team->name,
						      first_group + 1 + i, OTF2_UNDEFINED_COMM,
						      OTF2_COMM_FLAG_NONE);
	}
	return code;
}

int crit_otf2_teams_pack(const struct crit_otf2_teams *teams, struct crit_exchange_buffer *buffer)
{
	const struct shared_team_counts counts = { teams->forks, teams->lost, teams->count };
	int rc = crit_exchange_buffer_put(buffer, &counts, sizeof(counts));

	for (size_t i = 0; i < teams->count && !rc; i++) {
		const struct thread_team *team = &teams->rows[i];
		struct shared_team row = { team->group, team->size, (uint32_t)team->count, 0 };

		rc = crit_exchange_buffer_put(buffer, &row, sizeof(row));
		if (!rc)
			rc = crit_exchange_buffer_put(buffer, team->members,
						      team->count * sizeof(*team->members));
	}
	return rc;
}

static int unpack_team(struct crit_otf2_teams *teams, const struct crit_exchange_buffer *buffer,
		       size_t *at)
{
	struct shared_team row;
	uint32_t member;
	int64_t team;
	int rc = 0;

	if (!crit_exchange_buffer_take(buffer, at, &row, sizeof(row)) ||
	    row.group >= crit_otf2_layout_group_count(teams->layout) || !row.member_count)
		return -EPROTO;
	team = add_team(teams, row.group);
	if (team < 0)
		return (int)team;
	teams->rows[team].size = row.size;
	for (uint32_t i = 0; i < row.member_count && !rc; i++) {
		if (!crit_exchange_buffer_take(buffer, at, &member, sizeof(member)) ||
		    member >= crit_otf2_layout_location_count(teams->layout))
			return -EPROTO;
		rc = add_member(&teams->rows[team], member);
	}
	return rc;
}

int crit_otf2_teams_unpack(struct crit_otf2_teams *teams, const struct crit_exchange_buffer *buffer,
			   size_t *at, struct crit_otf2_told *ret_told)
{
	struct shared_team_counts counts;
	int rc = 0;

	if (!crit_exchange_buffer_take(buffer, at, &counts, sizeof(counts)))
		return -EPROTO;
	ret_told->first = teams->count;
	teams->forks += counts.forks;
	teams->lost += counts.lost;
	for (uint64_t i = 0; i < counts.team_count && !rc; i++)
		rc = unpack_team(teams, buffer, at);
	ret_told->count = teams->count - ret_told->first;
	return rc;
}

int crit_otf2_teams_pack_numbers(const struct crit_otf2_teams *teams, struct crit_otf2_told told,
				 struct crit_exchange_buffer *buffer)
{
	int rc = 0;

	for (size_t i = told.first; i < told.first + told.count && !rc; i++)
		rc = crit_exchange_buffer_put(buffer, &teams->rows[i].communicator,
					      sizeof(uint32_t));
	return rc;
}

int crit_otf2_teams_unpack_numbers(struct crit_otf2_teams *teams,
				   const struct crit_exchange_buffer *buffer, size_t *at)
{
	for (size_t i = 0; i < teams->count; i++) {
		if (!crit_exchange_buffer_take(buffer, at, &teams->rows[i].communicator,
					       sizeof(uint32_t)))
			return -EPROTO;
	}
	return 0;
}
