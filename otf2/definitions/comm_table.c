// SPDX-License-Identifier: BSD-3-Clause
// Finds the members of each communicator, known or not, and their groups.
#include "otf2/definitions/comm_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"
#include "core/base/index.h"

#define NAME_BYTES 96
#define UNKNOWN_PER_KNOWN 64u /* members of a world */

struct communicator {
	uint32_t group, group_b; /* references; group_b of an intercommunicator only */
	uint32_t name;
	uint32_t parent;
	bool is_inter;
};

struct member_list { /* a COMM_GROUP */
	uint64_t *members; /* indexes into COMM_LOCATIONS; NULL: MPI_COMM_SELF */
	uint32_t count, name;
};

struct crit_otf2_comms {
	const struct crit_results *run;
	struct crit_otf2_layout *layout;
	struct crit_otf2_strings *strings;
	struct member_list *groups; /* behind COMM_LOCATIONS */
	size_t group_count, group_capacity;
	struct crit_index group_numbers; /* rows of groups, by what is in them */
	struct communicator *rows;
	size_t count, capacity;
	uint32_t *peer_limits; /* by communicator: one more than the largest peer named */
	size_t peer_limit_count;
	uint64_t peer_limit_sum;
	bool has_strangers;
};

struct crit_otf2_comms *crit_otf2_comms_create(const struct crit_results *run,
					       struct crit_otf2_layout *layout,
					       struct crit_otf2_strings *strings)
{
	struct crit_otf2_comms *comms = calloc(1, sizeof(*comms));

	if (comms)
		*comms = (struct crit_otf2_comms){ .run = run,
						   .layout = layout,
						   .strings = strings };
	return comms;
}

void crit_otf2_comms_destroy(struct crit_otf2_comms *comms)
{
	if (!comms)
		return;
	for (size_t i = 0; i < comms->group_count; i++)
		free(comms->groups[i].members);
	free(comms->groups);
	crit_index_fini(&comms->group_numbers);
	free(comms->rows);
	free(comms->peer_limits);
	free(comms);
}

int crit_otf2_comms_note_peer(struct crit_otf2_comms *comms, uint32_t communicator, uint32_t peer)
{
	uint32_t known;

	if (crit_array_grow(&comms->peer_limits, &comms->peer_limit_count, communicator + 1u,
			    sizeof(*comms->peer_limits)))
		return -ENOMEM;
	known = comms->peer_limits[communicator];
	if (peer < known)
		return 0;
	if (comms->peer_limit_sum + peer - known >= CRIT_OTF2_PEERS_MAX)
		return -ENOSPC;
	comms->peer_limit_sum += peer + 1u - known;
	comms->peer_limits[communicator] = peer + 1;
	return 0;
}

/* A hash of a group's members. */
static uint64_t hash_of(const uint64_t *members, uint32_t count)
{
	uint64_t hash = count;

	for (uint32_t i = 0; i < count; i++)
		hash = crit_hash_mix(hash, members[i]);
	return hash;
}

/* The group of these members, in this order; NULL: none so far. */
static const struct member_list *find_same(const struct crit_otf2_comms *comms, uint64_t hash,
					   const uint64_t *members, uint32_t count)
{
	struct crit_probe probe;
	uint32_t row = crit_index_first(&comms->group_numbers, hash, &probe);

	for (; row != CRIT_NONE; row = crit_index_next(&comms->group_numbers, &probe)) {
		const struct member_list *group = &comms->groups[row];

		if (group->count == count &&
		    memcmp(group->members, members, count * sizeof(*members)) == 0)
			return group;
	}
	return NULL;
}

/*
 * Adds a group of members, which it takes; NULL: MPI_COMM_SELF.  One that is there already serves
 * again.  Its reference, behind COMM_LOCATIONS, or CRIT_NONE when out of memory.
 */
static uint32_t add_members(struct crit_otf2_comms *comms, uint64_t *members, uint32_t count,
			    const char *name)
{
	uint64_t hash = members ? hash_of(members, count) : 0;
	const struct member_list *same = members ? find_same(comms, hash, members, count) : NULL;
	uint32_t index = (uint32_t)comms->group_count, string;

	if (same) {
		free(members);
		return (uint32_t)(same - comms->groups) + 1;
	}
	string = crit_otf2_string(comms->strings, name);
	if (string == CRIT_NONE ||
	    crit_array_grow(&comms->groups, &comms->group_capacity, index + 1u,
			    sizeof(*comms->groups)) ||
	    (members && crit_index_put(&comms->group_numbers, hash, index))) {
		free(members);
		return CRIT_NONE;
	}
	comms->groups[index] =
		(struct member_list){ .members = members, .count = count, .name = string };
	comms->group_count++;
	return index + 1; /* 0 is COMM_LOCATIONS */
}

/*
 * The members of a side: rows of ranks, and those that messages named beyond them.  Who is not
 * known is the stranger; he is nobody's rank.
 */
static uint32_t add_side(struct crit_otf2_comms *comms, const uint32_t *rows, uint32_t count,
			 const char *name)
{
	size_t number = comms->count;
	uint32_t known_count = rows ? count : 0, wanted = known_count;
	uint64_t *members;

	if (number < comms->peer_limit_count && comms->peer_limits[number] > wanted)
		wanted = comms->peer_limits[number];
	members = calloc(wanted + 1ull, sizeof(*members));
	if (!members)
		return CRIT_NONE;
	for (uint32_t i = 0; i < wanted; i++) {
		if (i < known_count && rows[i] < crit_otf2_layout_rank_count(comms->layout)) {
			members[i] = rows[i];
			continue;
		}
		members[i] = crit_otf2_layout_stranger(comms->layout);
		comms->has_strangers = true;
	}
	return add_members(comms, members, wanted, name);
}

/* The first row of a world: its ranks follow each other in the results, worlds by number. */
static size_t first_of_world(const struct crit_results *run, uint32_t world)
{
	size_t low = 0, high = run->rank_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (run->ranks[middle].world_number < world)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* A world has as many members as it says, recorded or not, unless that is out of all proportion. */
static uint32_t add_world(struct crit_otf2_comms *comms, uint32_t world, const char *name)
{
	const struct crit_results *run = comms->run;
	size_t first = first_of_world(run, world), end = first_of_world(run, world + 1u), i;
	uint64_t size = end - first;
	uint32_t *rows, group;

	for (i = first; i < end; i++) {
		uint64_t said = run->ranks[i].world_size;

		said = said > run->ranks[i].rank ? said : run->ranks[i].rank + 1ull;
		if (said > size && said / UNKNOWN_PER_KNOWN <= end - first)
			size = said;
	}
	rows = malloc((size + 1) * sizeof(*rows));
	if (!rows)
		return CRIT_NONE;
	memset(rows, 0xff, (size + 1) * sizeof(*rows));
	for (i = first; i < end; i++) {
		if (run->ranks[i].rank < size)
			rows[run->ranks[i].rank] = (uint32_t)i;
	}
	group = add_side(comms, rows, (uint32_t)size, name);
	free(rows);
	return group;
}

static void name_communicator(const struct crit_otf2_comms *comms,
			      const struct crit_trace_communicator *told, char name[NAME_BYTES])
{
	if (told->name && told->name[0])
		(void)snprintf(name, NAME_BYTES, "%s", told->name);
	else if (told->kind == CRIT_TRACE_COMM_SELF)
		(void)snprintf(name, NAME_BYTES, "MPI_COMM_SELF");
	else if (told->kind == CRIT_TRACE_COMM_WORLD)
		(void)snprintf(name, NAME_BYTES,
			       told->world ? "MPI_COMM_WORLD %u" : "MPI_COMM_WORLD", told->world);
	else
		(void)snprintf(name, NAME_BYTES, "Comm %zu", comms->count);
}

int crit_otf2_comms_add(struct crit_otf2_comms *comms, const struct crit_trace_communicator *told)
{
	struct communicator add = { .parent = OTF2_UNDEFINED_COMM };
	char name[NAME_BYTES];

	if (crit_array_grow(&comms->rows, &comms->capacity, comms->count + 1, sizeof(*comms->rows)))
		return -ENOMEM;
	name_communicator(comms, told, name);
	add.name = crit_otf2_string(comms->strings, name);
	if (told->parent < comms->count)
		add.parent = told->parent;
	add.is_inter = told->kind == CRIT_TRACE_COMM_INTER;
	if (told->kind == CRIT_TRACE_COMM_WORLD)
		add.group = add_world(comms, told->world, name);
	else if (told->kind == CRIT_TRACE_COMM_SELF)
		add.group = add_members(comms, NULL, 0, name);
	else
		add.group = add_side(comms, told->members, told->member_count, name);
	if (add.is_inter)
		add.group_b =
			add_side(comms, told->remote_members, told->remote_member_count, name);
	if (add.name == CRIT_NONE || add.group == CRIT_NONE || add.group_b == CRIT_NONE)
		return -ENOMEM;
	comms->rows[comms->count++] = add;
	return 0;
}

int crit_otf2_comms_add_worlds(struct crit_otf2_comms *comms)
{
	struct crit_trace_communicator told = { .kind = CRIT_TRACE_COMM_WORLD,
						.parent = CRIT_TRACE_NONE };
	int rc = 0;

	for (told.world = 0; told.world < crit_otf2_layout_world_count(comms->layout) && !rc;
	     told.world++)
		rc = crit_otf2_comms_add(comms, &told);
	told.kind = CRIT_TRACE_COMM_SELF;
	return rc ? rc : crit_otf2_comms_add(comms, &told);
}

size_t crit_otf2_comms_count(const struct crit_otf2_comms *comms)
{
	return comms->count;
}

size_t crit_otf2_comms_group_count(const struct crit_otf2_comms *comms)
{
	return comms->group_count;
}

bool crit_otf2_comms_has_strangers(const struct crit_otf2_comms *comms)
{
	return comms->has_strangers;
}

/* Group 0: the location of every rank's MPI thread, the stranger last; all others count in it. */
OTF2_ErrorCode crit_otf2_comms_write_groups(const struct crit_otf2_comms *comms,
					    OTF2_GlobalDefWriter *global, uint32_t name)
{
	const struct crit_otf2_location *stranger =
		crit_otf2_layout_stranger_location(comms->layout);
	uint32_t rank_count = (uint32_t)crit_otf2_layout_rank_count(comms->layout);
	uint64_t *ranks = calloc(rank_count + 1u, sizeof(*ranks));
	uint32_t count = rank_count;
	OTF2_ErrorCode code = OTF2_ERROR_MEM_ALLOC_FAILED;

	for (uint32_t i = 0; ranks && i < rank_count; i++)
		ranks[i] = i; /* thread 0 << 32 | group */
	if (ranks && stranger)
		ranks[count++] = stranger->reference;
	if (ranks)
		code = OTF2_GlobalDefWriter_WriteGroup(global, 0, name,
						       OTF2_GROUP_TYPE_COMM_LOCATIONS,
						       OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE,
						       count, ranks);
	free(ranks);
	for (uint32_t i = 0; i < comms->group_count && code == OTF2_SUCCESS; i++) {
		const struct member_list *group = &comms->groups[i];

		code = OTF2_GlobalDefWriter_WriteGroup(
			global, 1 + i, group->name,
			group->members ? OTF2_GROUP_TYPE_COMM_GROUP : OTF2_GROUP_TYPE_COMM_SELF,
			OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, group->count, group->members);
	}
	return code;
}

OTF2_ErrorCode crit_otf2_comms_write(const struct crit_otf2_comms *comms,
				     OTF2_GlobalDefWriter *global)
{
	OTF2_ErrorCode code = OTF2_SUCCESS;

	for (uint32_t i = 0; i < comms->count && code == OTF2_SUCCESS; i++) {
		const struct communicator *comm = &comms->rows[i];

		if (comm->is_inter)
			code = OTF2_GlobalDefWriter_WriteInterComm(global, i, comm->name,
								   comm->group, comm->group_b,
								   comm->parent,
								   OTF2_COMM_FLAG_NONE);
		else
			code = OTF2_GlobalDefWriter_WriteComm(global, i, comm->name, comm->group,
							      comm->parent, OTF2_COMM_FLAG_NONE);
	}
	return code;
}
