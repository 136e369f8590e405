// SPDX-License-Identifier: BSD-3-Clause
// Communicators and the groups of their members.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"
#include "otf2/writer.h"

#define NAME_BYTES 96
#define UNKNOWN_PER_KNOWN 64u /* members of a world */

/* A hash of a group's members. */
static uint64_t hash_of(const uint64_t *members, uint32_t count)
{
	uint64_t hash = count;
	uint32_t i;

	for (i = 0; i < count; i++)
		hash = crit_hash_mix(hash, members[i]);
	return hash;
}

/* The group of these members, in this order; NULL: none so far. */
static const struct crit_otf2_members *find_same(const struct crit_otf2_writer *writer,
						 uint64_t hash, const uint64_t *members,
						 uint32_t count)
{
	struct crit_probe probe;
	uint32_t row = crit_index_first(&writer->member_numbers, hash, &probe);

	for (; row != CRIT_NONE; row = crit_index_next(&writer->member_numbers, &probe)) {
		const struct crit_otf2_members *group = &writer->members[row];

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
static uint32_t add_members(struct crit_otf2_writer *writer, uint64_t *members, uint32_t count,
			    const char *name)
{
	uint64_t hash = members ? hash_of(members, count) : 0;
	const struct crit_otf2_members *same = members ? find_same(writer, hash, members, count)
						       : NULL;
	uint32_t index = (uint32_t)writer->member_count, string;

	if (same) {
		free(members);
		return (uint32_t)(same - writer->members) + 1;
	}
	string = crit_otf2_string(&writer->strings, name);
	if (string == CRIT_NONE ||
	    crit_array_grow(&writer->members, &writer->member_capacity, index + 1u,
			    sizeof(*writer->members)) ||
	    (members && crit_index_put(&writer->member_numbers, hash, index))) {
		free(members);
		return CRIT_NONE;
	}
	writer->members[index] =
		(struct crit_otf2_members){ .members = members, .count = count, .name = string };
	writer->member_count++;
	return index + 1; /* 0 is COMM_LOCATIONS */
}

/*
 * The members of a side: rows of ranks, and those that messages named beyond them.  Who is not
 * known is the stranger; he is nobody's rank.
 */
static uint32_t add_side(struct crit_otf2_writer *writer, const uint32_t *rows, uint32_t count,
			 const char *name)
{
	size_t number = writer->communicator_count;
	uint32_t known_count = rows ? count : 0, wanted = known_count, i;
	uint64_t *members;

	if (number < writer->peer_limit_count && writer->peer_limits[number] > wanted)
		wanted = writer->peer_limits[number];
	members = calloc(wanted + 1ull, sizeof(*members));
	if (!members)
		return CRIT_NONE;
	for (i = 0; i < wanted; i++) {
		if (i < known_count && rows[i] < writer->rank_groups) {
			members[i] = rows[i];
			continue;
		}
		members[i] = crit_otf2_stranger(writer);
		writer->has_losses = true;
	}
	return add_members(writer, members, wanted, name);
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
static uint32_t add_world(struct crit_otf2_writer *writer, uint32_t world, const char *name)
{
	const struct crit_results *run = writer->run;
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
	group = add_side(writer, rows, (uint32_t)size, name);
	free(rows);
	return group;
}

static void name_communicator(const struct crit_otf2_writer *writer,
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
		(void)snprintf(name, NAME_BYTES, "Comm %zu", writer->communicator_count);
}

int crit_otf2_add_communicator(struct crit_otf2_writer *writer,
			       const struct crit_trace_communicator *told)
{
	struct crit_otf2_communicator add = { .parent = OTF2_UNDEFINED_COMM };
	char name[NAME_BYTES];

	if (crit_array_grow(&writer->communicators, &writer->communicator_capacity,
			    writer->communicator_count + 1, sizeof(*writer->communicators)))
		return -ENOMEM;
	name_communicator(writer, told, name);
	add.name = crit_otf2_string(&writer->strings, name);
	if (told->parent < writer->communicator_count)
		add.parent = told->parent;
	add.is_inter = told->kind == CRIT_TRACE_COMM_INTER;
	if (told->kind == CRIT_TRACE_COMM_WORLD)
		add.group = add_world(writer, told->world, name);
	else if (told->kind == CRIT_TRACE_COMM_SELF)
		add.group = add_members(writer, NULL, 0, name);
	else
		add.group = add_side(writer, told->members, told->member_count, name);
	if (add.is_inter)
		add.group_b =
			add_side(writer, told->remote_members, told->remote_member_count, name);
	if (add.name == CRIT_NONE || add.group == CRIT_NONE || add.group_b == CRIT_NONE)
		return -ENOMEM;
	writer->communicators[writer->communicator_count++] = add;
	return 0;
}

int crit_otf2_add_worlds(struct crit_otf2_writer *writer)
{
	struct crit_trace_communicator told = { .kind = CRIT_TRACE_COMM_WORLD,
						.parent = CRIT_TRACE_NONE };
	int rc = 0;

	for (told.world = 0; told.world < writer->world_count && !rc; told.world++)
		rc = crit_otf2_add_communicator(writer, &told);
	told.kind = CRIT_TRACE_COMM_SELF;
	return rc ? rc : crit_otf2_add_communicator(writer, &told);
}
