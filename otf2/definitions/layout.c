// SPDX-License-Identifier: BSD-3-Clause
// Names groups and locations, from the rows of the results.
#include "otf2/definitions/layout.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"

#define NAME_BYTES 96

struct crit_otf2_layout {
	const struct crit_results *run;
	struct crit_otf2_layout_options options;
	struct crit_otf2_strings *strings;
	struct crit_otf2_regions *regions;
	struct crit_otf2_group *groups;
	size_t group_count, rank_count; /* those of ranks come first */
	struct crit_otf2_location *locations;
	size_t location_count;
	uint32_t world_count;
	uint32_t first_group_count, string_count; /* before the first event */
	bool has_stranger;
	uint32_t stranger; /* row of its location */
};

/* Is a thread's row written at all? */
static bool is_listed(const struct crit_otf2_layout *layout, const struct crit_thread_row *row)
{
	if (layout->options.has_all)
		return true;
	return row->role == CRIT_THREAD_APP && (row->rank_row >= 0 || !layout->run->has_ranks);
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static uint32_t group_name(const struct crit_otf2_layout *layout,
			   const struct crit_otf2_group *group, const char *program)
{
	const struct crit_results *run = layout->run;
	char text[NAME_BYTES];

	if (group->rank_row < 0) {
		(void)snprintf(text, sizeof(text), "Process %u (%.60s)", group->pid, program);
	} else {
		const struct crit_rank_row *rank = &run->ranks[group->rank_row];

		if (layout->world_count > 1)
			(void)snprintf(text, sizeof(text), "MPI Rank %u.%u", rank->world_number,
				       rank->rank);
		else
			(void)snprintf(text, sizeof(text), "MPI Rank %u", rank->rank);
	}
	return crit_otf2_string(layout->strings, text);
}

/* The row of a group's main thread: its process's first, or just its first one; count: none. */
static size_t find_main(const struct crit_otf2_layout *layout, const struct crit_thread_row *rows,
			size_t count, uint32_t pid)
{
	size_t found = count;

	for (size_t i = 0; i < count; i++) {
		if (!is_listed(layout, &rows[i]))
			continue;
		if (rows[i].pid == pid && rows[i].tid == pid)
			return i;
		if (found == count || (rows[i].pid == pid && rows[found].pid != pid))
			found = i;
	}
	return found;
}

static int add_location(struct crit_otf2_layout *layout, struct crit_otf2_location *location,
			uint32_t number, const char *thread_name)
{
	const struct crit_transport *transport = layout->options.transport;
	uint32_t node = layout->groups[layout->group_count].node;
	char text[NAME_BYTES] = "Master thread";

	if (number)
		(void)snprintf(text, sizeof(text), "Thread %u (%s)", number, thread_name);
	*location = (struct crit_otf2_location){
		.reference = (uint64_t)number << 32 | layout->group_count,
		.name = crit_otf2_string(layout->strings, text),
		.group = (uint32_t)layout->group_count,
		.is_listed = true,
		.is_own = !transport || crit_transport_owner(transport, node) == transport->rank,
	};
	return location->name == CRIT_NONE ? -ENOMEM : 0;
}

/* Layout left room for one more group and location. */
uint32_t crit_otf2_layout_stranger(struct crit_otf2_layout *layout)
{
	if (!layout->has_stranger) {
		layout->has_stranger = true;
		layout->stranger = (uint32_t)layout->location_count;
		layout->groups[layout->group_count] =
			(struct crit_otf2_group){ .rank_row = -1,
						  .name = crit_otf2_string(layout->strings,
									   "MPI ranks not "
									   "recorded") };
		(void)add_location(layout, &layout->locations[layout->location_count++], 0, "");
		layout->group_count++;
	}
	return (uint32_t)layout->rank_count;
}

/* Errors: -ENOMEM, or how many there are. */
static int find_arguments(const struct crit_otf2_layout *layout,
			  const struct crit_otf2_group *group, uint32_t *ret_strings)
{
	char line[CRIT_EXE_BYTES], *rest = line, *word;
	int count = -1; /* the first word is the program's name */

	if (group->rank_row < 0)
		return 0;
	(void)snprintf(line, sizeof(line), "%s", layout->run->ranks[group->rank_row].arguments);
	while ((word = strsep(&rest, " ")) != NULL) {
		if (!*word || count++ < 0)
			continue;
		ret_strings[count - 1] = crit_otf2_string(layout->strings, word);
		if (ret_strings[count - 1] == CRIT_NONE)
			return -ENOMEM;
	}
	return count < 0 ? 0 : count;
}

/* Threads of a group follow each other in the results; the main thread becomes number 0. */
static int add_group(struct crit_otf2_layout *layout, int32_t rank_row, size_t first, size_t count)
{
	const struct crit_thread_row *rows = layout->run->threads + first;
	const struct crit_rank_row *rank = rank_row < 0 ? NULL : &layout->run->ranks[rank_row];
	struct crit_otf2_group *group = &layout->groups[layout->group_count];
	const char *program = rank && rank->program[0] ? rank->program
						       : file_name(layout->run->exe);
	uint32_t arguments[CRIT_OTF2_ARGUMENTS_MAX]; /* all strings are known before events are */
	uint32_t thread_count = 0;
	size_t main_row;
	int rc;

	*group = (struct crit_otf2_group){ .node = rank ? rank->node : rows->node,
					   .pid = rank ? rank->pid : rows->pid,
					   .rank_row = rank_row };
	rc = find_arguments(layout, group, arguments) < 0 ? -ENOMEM : 0;
	group->has_kernel = layout->run->nodes[group->node].kernel_half != CRIT_HALF_NONE;
	main_row = find_main(layout, rows, count, group->pid);
	if (main_row == count && !rank)
		return 0; /* none of its threads is listed */
	for (size_t i = 0; i < count && !rc; i++) {
		if (is_listed(layout, &rows[i]))
			rc = add_location(layout, &layout->locations[first + i],
					  i == main_row ? 0 : ++thread_count, rows[i].name);
	}
	if (main_row == count) /* no thread is known, but the rank was there */
		rc = add_location(layout, &layout->locations[layout->location_count++], 0, "");
	else if (!rank)
		program = rows[main_row].name;
	group->name = group_name(layout, group, program);
	group->program_name = crit_otf2_string(layout->strings, program);
	group->program = crit_otf2_regions_program(layout->regions, group->program_name);
	layout->group_count++;
	return rc || group->name == CRIT_NONE || group->program == CRIT_NONE ? -ENOMEM : 0;
}

/* How many rows from first on belong to the same rank, or to the same process without one. */
static size_t group_length(const struct crit_results *run, size_t first)
{
	const struct crit_thread_row *row = &run->threads[first];
	size_t end = first + 1;

	while (end < run->thread_count && run->threads[end].rank_row == row->rank_row &&
	       (row->rank_row >= 0 ||
		(run->threads[end].node == row->node && run->threads[end].pid == row->pid)))
		end++;
	return end - first;
}

static int make_groups(struct crit_otf2_layout *layout)
{
	const struct crit_results *run = layout->run;
	size_t first = 0, length;
	int rc = 0;

	for (size_t row = 0; row < run->rank_count && !rc; row++) {
		length = 0;
		if (first < run->thread_count && run->threads[first].rank_row == (int32_t)row)
			length = group_length(run, first);
		rc = add_group(layout, (int32_t)row, first, length);
		first += length;
	}
	layout->rank_count = layout->group_count;
	for (; first < run->thread_count && !rc; first += length) {
		length = group_length(run, first);
		rc = add_group(layout, -1, first, length);
	}
	return rc;
}

/* Errors: -ENOMEM. */
static int lay_out(struct crit_otf2_layout *layout)
{
	const struct crit_results *run = layout->run;
	size_t most = run->rank_count + run->thread_count + 1;
	int rc;

	if (crit_otf2_string(layout->strings, "") == CRIT_NONE) /* number 0 by habit */
		return -ENOMEM;
	layout->groups = calloc(most, sizeof(*layout->groups));
	layout->locations = calloc(most, sizeof(*layout->locations));
	if (!layout->groups || !layout->locations)
		return -ENOMEM;
	layout->location_count = run->thread_count;
	if (run->rank_count)
		layout->world_count = run->ranks[run->rank_count - 1].world_number + 1;
	rc = make_groups(layout);
	if (!rc && !run->has_ranks)
		rc = crit_otf2_regions_add_states(layout->regions);
	crit_otf2_regions_begin_calls(layout->regions);
	layout->first_group_count = (uint32_t)layout->group_count;
	layout->string_count = (uint32_t)crit_otf2_strings_count(layout->strings);
	return rc;
}

int crit_otf2_layout_create(const struct crit_results *run,
			    const struct crit_otf2_layout_options *options,
			    struct crit_otf2_strings *strings, struct crit_otf2_regions *regions,
			    struct crit_otf2_layout **ret_layout)
{
	struct crit_otf2_layout *layout = calloc(1, sizeof(*layout));
	int rc;

	if (!layout)
		return -ENOMEM;
	*layout = (struct crit_otf2_layout){
		.run = run, .options = *options, .strings = strings, .regions = regions
	};
	rc = lay_out(layout);
	if (rc)
		crit_otf2_layout_destroy(layout);
	else
		*ret_layout = layout;
	return rc;
}

void crit_otf2_layout_destroy(struct crit_otf2_layout *layout)
{
	if (!layout)
		return;
	free(layout->groups);
	free(layout->locations);
	free(layout);
}

size_t crit_otf2_layout_group_count(const struct crit_otf2_layout *layout)
{
	return layout->group_count;
}

size_t crit_otf2_layout_rank_count(const struct crit_otf2_layout *layout)
{
	return layout->rank_count;
}

size_t crit_otf2_layout_location_count(const struct crit_otf2_layout *layout)
{
	return layout->location_count;
}

uint32_t crit_otf2_layout_world_count(const struct crit_otf2_layout *layout)
{
	return layout->world_count;
}

uint32_t crit_otf2_layout_first_group_count(const struct crit_otf2_layout *layout)
{
	return layout->first_group_count;
}

uint32_t crit_otf2_layout_string_count(const struct crit_otf2_layout *layout)
{
	return layout->string_count;
}

const struct crit_otf2_group *crit_otf2_layout_group(const struct crit_otf2_layout *layout,
						     uint32_t group)
{
	return &layout->groups[group];
}

const struct crit_otf2_location *crit_otf2_layout_location(const struct crit_otf2_layout *layout,
							   uint32_t row)
{
	return &layout->locations[row];
}

bool crit_otf2_layout_is_main(const struct crit_otf2_layout *layout, uint32_t row)
{
	const struct crit_otf2_location *location = &layout->locations[row];

	return layout->groups[location->group].rank_row >= 0 && location->reference >> 32 == 0;
}

int crit_otf2_layout_arguments(const struct crit_otf2_layout *layout, uint32_t group,
			       uint32_t *ret_strings)
{
	return find_arguments(layout, &layout->groups[group], ret_strings);
}

const struct crit_otf2_location *
crit_otf2_layout_stranger_location(const struct crit_otf2_layout *layout)
{
	return layout->has_stranger ? &layout->locations[layout->stranger] : NULL;
}

OTF2_ErrorCode crit_otf2_layout_write(const struct crit_otf2_layout *layout,
				      OTF2_GlobalDefWriter *global, const uint64_t *event_counts)
{
	OTF2_ErrorCode code = OTF2_SUCCESS;

	for (uint32_t i = 0; i < layout->group_count && code == OTF2_SUCCESS; i++)
		code = OTF2_GlobalDefWriter_WriteLocationGroup(global, i, layout->groups[i].name,
							       OTF2_LOCATION_GROUP_TYPE_PROCESS,
							       1 + layout->groups[i].node,
							       OTF2_UNDEFINED_LOCATION_GROUP);
	for (uint32_t i = 0; i < layout->location_count && code == OTF2_SUCCESS; i++) {
		const struct crit_otf2_location *location = &layout->locations[i];

		if (location->is_listed)
			code = OTF2_GlobalDefWriter_WriteLocation(global, location->reference,
								  location->name,
								  OTF2_LOCATION_TYPE_CPU_THREAD,
								  event_counts[i], location->group);
	}
	return code;
}
