// SPDX-License-Identifier: BSD-3-Clause
// Who becomes which location group, location and communicator.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "otf2/writer.h"

#define NAME_BYTES 96

/* Is a thread's row written at all? */
static bool is_listed(const struct crit_otf2_writer *writer, const struct crit_thread_row *row)
{
	if (writer->options->has_all)
		return true;
	return row->role == CRIT_THREAD_APP && (row->rank_row >= 0 || !writer->run->has_ranks);
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static uint32_t group_name(struct crit_otf2_writer *writer, const struct crit_otf2_group *group,
			   const char *program)
{
	const struct crit_results *run = writer->run;
	char text[NAME_BYTES];

	if (group->rank_row < 0) {
		(void)snprintf(text, sizeof(text), "Process %u (%.60s)", group->pid, program);
	} else {
		const struct crit_rank_row *rank = &run->ranks[group->rank_row];

		if (writer->world_count > 1)
			(void)snprintf(text, sizeof(text), "MPI Rank %u.%u", rank->world_number,
				       rank->rank);
		else
			(void)snprintf(text, sizeof(text), "MPI Rank %u", rank->rank);
	}
	return crit_otf2_string(&writer->strings, text);
}

/* The row of a group's main thread: its process's first, or just its first one; count: none. */
static size_t find_main(const struct crit_otf2_writer *writer, const struct crit_thread_row *rows,
			size_t count, uint32_t pid)
{
	size_t found = count, i;

	for (i = 0; i < count; i++) {
		if (!is_listed(writer, &rows[i]))
			continue;
		if (rows[i].pid == pid && rows[i].tid == pid)
			return i;
		if (found == count || (rows[i].pid == pid && rows[found].pid != pid))
			found = i;
	}
	return found;
}

static int add_location(struct crit_otf2_writer *writer, struct crit_otf2_location *location,
			uint32_t number, const char *thread_name)
{
	const struct crit_peers *peers = writer->options->peers;
	uint32_t node = writer->groups[writer->group_count].node;
	char text[NAME_BYTES] = "Master thread";

	if (number)
		(void)snprintf(text, sizeof(text), "Thread %u (%s)", number, thread_name);
	*location = (struct crit_otf2_location){
		.reference = (uint64_t)number << 32 | writer->group_count,
		.name = crit_otf2_string(&writer->strings, text),
		.group = (uint32_t)writer->group_count,
		.is_listed = true,
		.is_own = !peers || crit_peers_player(peers, node) == peers->rank,
	};
	return location->name == CRIT_NONE ? -ENOMEM : 0;
}

/* Layout left room for one more group and location. */
uint32_t crit_otf2_stranger(struct crit_otf2_writer *writer)
{
	if (!writer->has_stranger) {
		writer->has_stranger = true;
		writer->stranger = (uint32_t)writer->location_count;
		writer->groups[writer->group_count] =
			(struct crit_otf2_group){ .rank_row = -1,
						  .first_construct = CRIT_NONE,
						  .first_team = CRIT_NONE,
						  .name = crit_otf2_string(&writer->strings,
									   "MPI ranks not "
									   "recorded") };
		(void)add_location(writer, &writer->locations[writer->location_count++], 0, "");
		writer->group_count++;
	}
	return (uint32_t)writer->rank_groups;
}

int crit_otf2_arguments(struct crit_otf2_writer *writer, const struct crit_otf2_group *group,
			uint32_t *ret_strings)
{
	char line[CRIT_EXE_BYTES], *rest = line, *word;
	int count = -1; /* the first word is the program's name */

	if (group->rank_row < 0)
		return 0;
	(void)snprintf(line, sizeof(line), "%s", writer->run->ranks[group->rank_row].arguments);
	while ((word = strsep(&rest, " ")) != NULL) {
		if (!*word || count++ < 0)
			continue;
		ret_strings[count - 1] = crit_otf2_string(&writer->strings, word);
		if (ret_strings[count - 1] == CRIT_NONE)
			return -ENOMEM;
	}
	return count < 0 ? 0 : count;
}

/* Threads of a group follow each other in the results; the main thread becomes number 0. */
static int add_group(struct crit_otf2_writer *writer, int32_t rank_row, size_t first, size_t count)
{
	const struct crit_thread_row *rows = writer->run->threads + first;
	const struct crit_rank_row *rank = rank_row < 0 ? NULL : &writer->run->ranks[rank_row];
	struct crit_otf2_group *group = &writer->groups[writer->group_count];
	const char *program = rank && rank->program[0] ? rank->program
						       : file_name(writer->run->exe);
	uint32_t arguments[CRIT_OTF2_ARGUMENTS_MAX]; /* all strings are known before events are */
	uint32_t thread_count = 0;
	size_t main_row, i;
	int rc;

	*group = (struct crit_otf2_group){ .node = rank ? rank->node : rows->node,
					   .pid = rank ? rank->pid : rows->pid,
					   .rank_row = rank_row,
					   .first_construct = CRIT_NONE,
					   .first_team = CRIT_NONE };
	rc = crit_otf2_arguments(writer, group, arguments) < 0 ? -ENOMEM : 0;
	group->has_kernel = writer->run->nodes[group->node].kernel_half != CRIT_HALF_NONE;
	main_row = find_main(writer, rows, count, group->pid);
	if (main_row == count && !rank)
		return 0; /* none of its threads is listed */
	for (i = 0; i < count && !rc; i++) {
		if (is_listed(writer, &rows[i]))
			rc = add_location(writer, &writer->locations[first + i],
					  i == main_row ? 0 : ++thread_count, rows[i].name);
	}
	if (main_row == count) /* no thread is known, but the rank was there */
		rc = add_location(writer, &writer->locations[writer->location_count++], 0, "");
	else if (!rank)
		program = rows[main_row].name;
	group->name = group_name(writer, group, program);
	group->program = crit_otf2_program_region(writer, program);
	writer->group_count++;
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

static int make_groups(struct crit_otf2_writer *writer)
{
	const struct crit_results *run = writer->run;
	size_t first = 0, row, length;
	int rc = 0;

	for (row = 0; row < run->rank_count && !rc; row++) {
		length = 0;
		if (first < run->thread_count && run->threads[first].rank_row == (int32_t)row)
			length = group_length(run, first);
		rc = add_group(writer, (int32_t)row, first, length);
		first += length;
	}
	writer->rank_groups = writer->group_count;
	for (; first < run->thread_count && !rc; first += length) {
		length = group_length(run, first);
		rc = add_group(writer, -1, first, length);
	}
	return rc;
}

int crit_otf2_layout(struct crit_otf2_writer *writer)
{
	const struct crit_results *run = writer->run;
	int rc;

	crit_otf2_openmp_init(&writer->openmp);
	if (crit_otf2_string(&writer->strings, "") == CRIT_NONE) /* number 0 by habit */
		return -ENOMEM;
	writer->groups = calloc(run->rank_count + run->thread_count + 1, sizeof(*writer->groups));
	writer->locations =
		calloc(run->rank_count + run->thread_count + 1, sizeof(*writer->locations));
	if (!writer->groups || !writer->locations)
		return -ENOMEM;
	writer->location_count = run->thread_count;
	if (run->rank_count)
		writer->world_count = run->ranks[run->rank_count - 1].world_number + 1;
	rc = make_groups(writer);
	writer->first_call = (uint32_t)writer->region_count;
	writer->told_groups = (uint32_t)writer->group_count;
	writer->first_text = (uint32_t)writer->strings.count;
	return rc;
}
