// SPDX-License-Identifier: BSD-3-Clause
// Who counts, whose part of the window they live by, and how long the window is.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/process.h"
#include "analysis/survey.h"

#define ANCESTORS_MAX 1024u

static void order_worlds(struct crit_model *model)
{
	uint32_t number = 0;
	size_t i, k;

	for (i = 0; i < model->rank_count; i++)
		model->ranks[i].world_number = CRIT_NONE;
	for (;;) { /* worlds are few: the earliest without a number is next */
		struct crit_rank *first = NULL;

		for (i = 0; i < model->rank_count; i++) {
			struct crit_rank *rank = &model->ranks[i];

			if (rank->world_number == CRIT_NONE &&
			    (!first || rank->open_ns < first->open_ns))
				first = rank;
		}
		if (!first)
			return;
		for (k = 0; k < model->rank_count; k++) {
			if (model->ranks[k].world_number == CRIT_NONE &&
			    !strcmp(model->ranks[k].world, first->world))
				model->ranks[k].world_number = number;
		}
		number++;
	}
}

/* Lives and parts end at the cut, or with the recording. */
static uint64_t last_ns(const struct crit_node *node)
{
	return node->cut_ns < node->end_ns ? node->cut_ns : node->end_ns;
}

static void close_lives(struct crit_model *model)
{
	size_t i;

	for (i = 0; i < model->life_count; i++) {
		struct crit_life *life = &model->lives[i];
		uint64_t end_ns = last_ns(&model->nodes[life->node]);

		if (life->death_ns > end_ns)
			life->death_ns = end_ns;
		if (life->death_ns < life->birth_ns)
			life->death_ns = life->birth_ns;
	}
}

static int make_parts(struct crit_model *model)
{
	size_t i;

	model->parts = calloc(model->rank_count + 1, sizeof(*model->parts));
	if (!model->parts)
		return -ENOMEM;
	for (i = 0; i < model->rank_count; i++) {
		struct crit_rank *rank = &model->ranks[i];
		uint64_t end_ns = last_ns(&model->nodes[rank->node]);
		uint64_t process_end_ns = model->processes[rank->process].end_ns;

		if (rank->close_ns > process_end_ns)
			rank->close_ns = process_end_ns;
		if (rank->close_ns > end_ns)
			rank->close_ns = end_ns;
		if (rank->close_ns < rank->open_ns)
			rank->close_ns = rank->open_ns;
		model->parts[i] = (struct crit_part){ rank->open_ns, rank->close_ns, CRIT_NONE };
	}
	model->parts[model->rank_count] =
		(struct crit_part){ CRIT_TIME_MAX, CRIT_TIME_MAX, CRIT_NONE };
	return 0;
}

static void link_parents(struct crit_model *model)
{
	size_t i;

	for (i = 0; i < model->process_count; i++) {
		struct crit_process *process = &model->processes[i];

		if (process->parent == CRIT_NONE && process->parent_pid)
			process->parent = crit_process_find(model, process->node,
							    process->parent_pid, process->begin_ns);
	}
}

/* The rank a process is or descends from, or CRIT_NONE. */
static uint32_t rank_of(const struct crit_model *model, uint32_t process)
{
	unsigned int steps;

	for (steps = 0; process != CRIT_NONE && steps < ANCESTORS_MAX; steps++) {
		if (model->processes[process].rank != CRIT_NONE)
			return model->processes[process].rank;
		process = model->processes[process].parent;
	}
	return CRIT_NONE;
}

static bool is_mpi_call(uint32_t call)
{
	return call > 0 && call < CRIT_CALL_OMP_FIRST;
}

static bool has_mpi_slots(const struct crit_recording *recording, const struct crit_chunk_ref *ref)
{
	struct crit_slot slots[128];
	size_t at = 0;
	ssize_t got;

	while ((got = crit_recording_read(recording, ref, at, slots, sizeof(slots))) > 0) {
		size_t count = (size_t)got / sizeof(slots[0]);
		size_t i;

		for (i = 0; i < count; i++) {
			if ((slots[i].kind == CRIT_S_ENTER || slots[i].kind == CRIT_S_POLL) &&
			    is_mpi_call(slots[i].call))
				return true;
		}
		at += (size_t)got;
	}
	return false;
}

/* Does the stream hold an MPI call?  Looks at its slots until there is one, and at its counters. */
static bool has_mpi_calls(const struct crit_model *model, const struct crit_stream *stream)
{
	const struct crit_recording *recording = model->nodes[stream->node].recording;
	struct crit_counter counter;
	uint32_t ref;

	if (stream->has_end && is_mpi_call(stream->end.open_call))
		return true;
	for (ref = stream->first_ref; ref != CRIT_NONE; ref = recording->refs[ref].next) {
		if (has_mpi_slots(recording, &recording->refs[ref]))
			return true;
	}
	for (ref = stream->first_counters; ref != CRIT_NONE; ref = recording->refs[ref].next) {
		if (crit_recording_read_struct(recording, &recording->refs[ref], &counter,
					       sizeof(counter)) &&
		    is_mpi_call(counter.call))
			return true;
	}
	return false;
}

/* Processes that call MPI, and threads born in MPI that turn out to call it themselves. */
static void find_callers(struct crit_model *model)
{
	size_t i;

	for (i = 0; i < model->stream_count; i++) {
		const struct crit_stream *stream = &model->streams[i];
		struct crit_life *life;

		if (stream->life == CRIT_NONE)
			continue;
		life = &model->lives[stream->life];
		if (!life->is_born_in_mpi && model->processes[life->process].has_mpi)
			continue;
		if (!has_mpi_calls(model, stream))
			continue;
		life->is_born_in_mpi = false;
		life->has_mpi_calls = true;
		model->processes[life->process].has_mpi = true;
	}
}

/*
 * What a helper of the MPI library creates is a helper, too; creators are older, so one sweep
 * does.
 */
static bool is_service(const struct crit_model *model, const struct crit_life *life)
{
	bool is_rank_itself = life->tid == life->tgid &&
			      model->processes[life->process].rank != CRIT_NONE;

	if (life->has_mpi_calls || is_rank_itself)
		return false;
	return life->is_born_in_mpi || (life->creator != CRIT_NONE &&
					model->lives[life->creator].role == CRIT_THREAD_SERVICE);
}

static void cast_roles(struct crit_model *model)
{
	uint32_t own = (uint32_t)model->rank_count; /* the part of those who have no rank */
	size_t i;

	for (i = 0; i < model->life_count; i++) {
		struct crit_life *life = &model->lives[i];
		uint32_t rank = rank_of(model, life->process);

		life->rank = rank;
		life->role = is_service(model, life) ? CRIT_THREAD_SERVICE : CRIT_THREAD_APP;
		if (rank != CRIT_NONE)
			life->part = rank;
		else if (!model->rank_count || model->processes[life->process].has_mpi)
			life->part = own; /* with ranks, the own part never opens */
		else if (life->role == CRIT_THREAD_APP)
			life->role = CRIT_THREAD_LAUNCHER;
		if (life->part != CRIT_NONE) {
			life->next_in_part = model->parts[life->part].first_life;
			model->parts[life->part].first_life = (uint32_t)i;
		}
	}
}

/*
 * With ranks the union of their parts; else from the root's exec, or the first birth, to the last
 * exit.
 */
static void set_window(struct crit_model *model)
{
	uint64_t begin_ns = CRIT_TIME_MAX, end_ns = 0;
	size_t i;

	for (i = 0; i < model->rank_count; i++) {
		if (model->parts[i].open_ns < begin_ns)
			begin_ns = model->parts[i].open_ns;
		if (model->parts[i].close_ns > end_ns)
			end_ns = model->parts[i].close_ns;
	}
	for (i = 0; i < model->life_count && !model->rank_count; i++) {
		if (model->lives[i].birth_ns < begin_ns)
			begin_ns = model->lives[i].birth_ns;
		if (model->lives[i].death_ns > end_ns)
			end_ns = model->lives[i].death_ns;
	}
	if (!model->rank_count && model->first_exec_ns < end_ns)
		begin_ns = model->first_exec_ns;
	if (begin_ns > end_ns)
		begin_ns = end_ns;
	model->window_begin_ns = begin_ns;
	model->window_end_ns = end_ns;
	if (!model->rank_count) {
		model->parts[0].open_ns = begin_ns;
		model->parts[0].close_ns = end_ns;
	}
}

int crit_survey_roles(struct crit_model *model)
{
	int rc;

	link_parents(model);
	order_worlds(model);
	close_lives(model);
	rc = make_parts(model);
	if (rc)
		return rc;
	find_callers(model);
	cast_roles(model);
	set_window(model);
	return 0;
}
