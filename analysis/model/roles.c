// SPDX-License-Identifier: BSD-3-Clause
// Gives each thread its role, its rank and its window, and sets the window of the run.
#include "analysis/model/roles.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/model/processes.h"
#include "core/base/cleanup.h"

#define ANCESTORS_MAX 1024u

static int by_opening(const void *left, const void *right)
{
	const struct crit_rank *a = *(struct crit_rank *const *)left;
	const struct crit_rank *b = *(struct crit_rank *const *)right;

	if (a->open_ns != b->open_ns)
		return a->open_ns < b->open_ns ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int by_world(const void *left, const void *right)
{
	const struct crit_rank *a = *(struct crit_rank *const *)left;
	const struct crit_rank *b = *(struct crit_rank *const *)right;
	int order = strcmp(a->world, b->world);

	return order ? order : by_opening(left, right);
}

/* Numbers the worlds as their first ranks opened. */
static int order_worlds(struct crit_model *model)
{
	size_t count = model->rank_count, worlds = 0;
	crit_autofree struct crit_rank **ranks = calloc(count + 1, sizeof(struct crit_rank *));
	crit_autofree struct crit_rank **firsts = calloc(count + 1, sizeof(struct crit_rank *));

	if (!ranks || !firsts)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		ranks[i] = &model->ranks[i];
	qsort(ranks, count, sizeof(struct crit_rank *), by_world);
	for (size_t i = 0; i < count; i++) {
		if (!i || strcmp(ranks[i]->world, ranks[i - 1]->world) != 0)
			firsts[worlds++] = ranks[i];
	}
	qsort(firsts, worlds, sizeof(struct crit_rank *), by_opening);
	for (size_t i = 0; i < worlds; i++)
		firsts[i]->world_number = (uint32_t)i;
	for (size_t i = 1; i < count; i++) {
		if (!strcmp(ranks[i]->world, ranks[i - 1]->world))
			ranks[i]->world_number = ranks[i - 1]->world_number;
	}
	return 0;
}

/* Lives and parts end at the cut, or with the recording. */
static uint64_t last_ns(const struct crit_node *node)
{
	return node->cut_ns < node->end_ns ? node->cut_ns : node->end_ns;
}

static void close_threads(struct crit_model *model)
{
	for (size_t i = 0; i < model->thread_count; i++) {
		struct crit_thread *thread = &model->threads[i];
		uint64_t end_ns = last_ns(&model->nodes[thread->node]);

		if (thread->death_ns > end_ns)
			thread->death_ns = end_ns;
		if (thread->death_ns < thread->birth_ns)
			thread->death_ns = thread->birth_ns;
	}
}

static int make_windows(struct crit_model *model)
{
	model->windows = calloc(model->rank_count + 1, sizeof(*model->windows));
	if (!model->windows)
		return -ENOMEM;
	for (size_t i = 0; i < model->rank_count; i++) {
		struct crit_rank *rank = &model->ranks[i];
		uint64_t end_ns = last_ns(&model->nodes[rank->node]);
		uint64_t process_end_ns = model->processes[rank->process].end_ns;

		if (rank->close_ns > process_end_ns)
			rank->close_ns = process_end_ns;
		if (rank->close_ns > end_ns)
			rank->close_ns = end_ns;
		if (rank->close_ns < rank->open_ns)
			rank->close_ns = rank->open_ns;
		model->windows[i] =
			(struct crit_rank_window){ rank->open_ns, rank->close_ns, CRIT_NONE };
	}
	model->windows[model->rank_count] =
		(struct crit_rank_window){ CRIT_TIME_MAX, CRIT_TIME_MAX, CRIT_NONE };
	return 0;
}

static void link_parents(struct crit_model *model)
{
	for (size_t i = 0; i < model->process_count; i++) {
		struct crit_process *process = &model->processes[i];

		if (process->parent == CRIT_NONE && process->parent_pid)
			process->parent = crit_process_find(model, process->node,
							    process->parent_pid, process->begin_ns);
	}
}

/* The rank a process is or descends from, or CRIT_NONE. */
static uint32_t rank_of(const struct crit_model *model, uint32_t process)
{
	for (unsigned int steps = 0; process != CRIT_NONE && steps < ANCESTORS_MAX; steps++) {
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

enum calls { /* that a stream tells of */
	CALLS_NONE = 0,
	CALLS_WORKER, /* it is one of an OpenMP runtime */
	CALLS_MPI
};

static enum calls calls_of_slots(const struct crit_recording *recording,
				 const struct crit_chunk_ref *ref, bool wants_worker)
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
				return CALLS_MPI;
			if (wants_worker && slots[i].kind == CRIT_S_WORKER)
				return CALLS_WORKER;
		}
		at += (size_t)got;
	}
	return CALLS_NONE;
}

/*
 * Does the stream hold an MPI call, or say it is a worker's, where that is wanted?  Looks at its
 * slots until there is one, and at its counters.
 */
static enum calls calls_of(const struct crit_model *model, const struct crit_stream *stream,
			   bool wants_worker)
{
	const struct crit_recording *recording = model->nodes[stream->node].recording;
	struct crit_counter counter;
	enum calls calls;

	if (stream->has_end && is_mpi_call(stream->end.open_call))
		return CALLS_MPI;
	for (uint32_t ref = stream->first_ref; ref != CRIT_NONE; ref = recording->refs[ref].next) {
		calls = calls_of_slots(recording, &recording->refs[ref], wants_worker);
		if (calls)
			return calls;
	}
	for (uint32_t ref = stream->first_counters; ref != CRIT_NONE;
	     ref = recording->refs[ref].next) {
		if (crit_recording_read_struct(recording, &recording->refs[ref], &counter,
					       sizeof(counter)) &&
		    is_mpi_call(counter.call))
			return CALLS_MPI;
	}
	return CALLS_NONE;
}

/*
 * Tags are read from registration on, and by BPF only.  Of a rank that registered when MPI_Init had
 * returned, whom its processes' threads created since it had entered that is born in MPI, and so is
 * whoever lived then beside its first thread.  With perf events so is whom they created until
 * MPI_Init returned, from their first word on, which is inside their first MPI call.
 */
static bool is_born_in_init(const struct crit_model *model, const struct crit_thread *thread)
{
	const bool is_created = thread->creator != CRIT_NONE;
	const uint32_t index = is_created ? model->threads[thread->creator].process
					  : thread->process;
	const struct crit_process *process = index == CRIT_NONE ? NULL : &model->processes[index];
	const struct crit_rank *rank;
	uint64_t end_ns;

	if (!process || !process->is_registered || process->rank == CRIT_NONE)
		return false;
	rank = &model->ranks[process->rank];
	if (!is_created)
		return rank->init_ns && thread->is_enrolled && thread->tid != thread->tgid;
	end_ns = model->nodes[thread->node].row.kernel_half == CRIT_HALF_PERF
			 ? rank->open_ns
			 : process->registered_ns;
	return thread->birth_ns >= (rank->init_ns ? rank->init_ns : process->registered_ns) &&
	       thread->birth_ns < end_ns;
}

static void find_births_in_init(struct crit_model *model)
{
	for (size_t i = 0; i < model->thread_count; i++) {
		struct crit_thread *thread = &model->threads[i];

		thread->is_born_in_mpi |= is_born_in_init(model, thread);
	}
}

/* Threads that helpers of the MPI library made, directly or not; creators are older. */
static void find_helpers(struct crit_model *model)
{
	for (size_t i = 0; i < model->thread_count; i++) {
		struct crit_thread *thread = &model->threads[i];

		thread->is_helper =
			thread->is_born_in_mpi ||
			(thread->creator != CRIT_NONE && model->threads[thread->creator].is_helper);
	}
}

/* Processes that call MPI, and helpers that turn out to call it themselves, or to be workers. */
static void find_callers(struct crit_model *model)
{
	for (size_t i = 0; i < model->stream_count; i++) {
		const struct crit_stream *stream = &model->streams[i];
		struct crit_thread *thread;
		enum calls calls;

		if (stream->thread == CRIT_NONE)
			continue;
		thread = &model->threads[stream->thread];
		if (!thread->is_helper && model->processes[thread->process].has_mpi)
			continue;
		calls = calls_of(model, stream, thread->is_helper);
		thread->is_worker |= calls == CALLS_WORKER;
		if (calls != CALLS_MPI)
			continue;
		thread->has_mpi_calls = true;
		model->processes[thread->process].has_mpi = true;
	}
}

/*
 * What a helper of the MPI library creates is a helper, too; creators are older, so one sweep
 * does.
 */
static bool is_service(const struct crit_model *model, const struct crit_thread *thread)
{
	bool is_rank_itself = thread->tid == thread->tgid &&
			      model->processes[thread->process].rank != CRIT_NONE;

	if (thread->has_mpi_calls || thread->is_worker || is_rank_itself)
		return false;
	return thread->is_born_in_mpi ||
	       (thread->creator != CRIT_NONE &&
		model->threads[thread->creator].role == CRIT_THREAD_SERVICE);
}

static void cast_roles(struct crit_model *model)
{
	uint32_t own = (uint32_t)model->rank_count; /* the part of those who have no rank */

	for (size_t i = 0; i < model->thread_count; i++) {
		struct crit_thread *thread = &model->threads[i];
		uint32_t rank = rank_of(model, thread->process);

		thread->rank = rank;
		thread->role = is_service(model, thread) ? CRIT_THREAD_SERVICE : CRIT_THREAD_APP;
		if (rank != CRIT_NONE)
			thread->window = rank;
		else if (!model->rank_count || model->processes[thread->process].has_mpi)
			thread->window = own; /* with ranks, the own part never opens */
		else if (thread->role == CRIT_THREAD_APP)
			thread->role = CRIT_THREAD_LAUNCHER;
		if (thread->window != CRIT_NONE) {
			thread->next_in_window = model->windows[thread->window].first_thread;
			model->windows[thread->window].first_thread = (uint32_t)i;
		}
	}
}

/*
 * With ranks the union of their parts; else from the root's exec, or the first birth, to the last
 * exit.  What crit run did before that exec is not the program's; of a process that was attached
 * all is.
 */
static void set_window(struct crit_model *model)
{
	uint64_t begin_ns = CRIT_TIME_MAX, end_ns = 0;

	for (size_t i = 0; i < model->rank_count; i++) {
		if (model->windows[i].open_ns < begin_ns)
			begin_ns = model->windows[i].open_ns;
		if (model->windows[i].close_ns > end_ns)
			end_ns = model->windows[i].close_ns;
	}
	for (size_t i = 0; i < model->thread_count && !model->rank_count; i++) {
		if (model->threads[i].birth_ns < begin_ns)
			begin_ns = model->threads[i].birth_ns;
		if (model->threads[i].death_ns > end_ns)
			end_ns = model->threads[i].death_ns;
	}
	if (!model->rank_count && !model->is_attached && model->first_exec_ns < end_ns)
		begin_ns = model->first_exec_ns;
	if (begin_ns > end_ns)
		begin_ns = end_ns;
	model->window_begin_ns = begin_ns;
	model->window_end_ns = end_ns;
	if (!model->rank_count) {
		model->windows[0].open_ns = begin_ns;
		model->windows[0].close_ns = end_ns;
	}
}

int crit_roles_find(struct crit_model *model)
{
	int rc;

	link_parents(model);
	rc = order_worlds(model);
	if (rc)
		return rc;
	close_threads(model);
	rc = make_windows(model);
	if (rc)
		return rc;
	find_births_in_init(model);
	find_helpers(model);
	find_callers(model);
	cast_roles(model);
	set_window(model);
	return 0;
}
