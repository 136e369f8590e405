// SPDX-License-Identifier: BSD-3-Clause
// Registrations of clients with critd: processes, ranks, their window, names of
// threads.
#include "analysis/model/register.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/model/processes.h"

static void copy_text(char *to, size_t to_size, const char *from, size_t from_size)
{
	size_t length = strnlen(from, from_size);

	if (length >= to_size)
		length = to_size - 1;
	memcpy(to, from, length);
	memset(to + length, 0, to_size - length);
}

static bool is_mpi_flavour(uint32_t flavour)
{
	return flavour == CRIT_FLAVOUR_OPENMPI || flavour == CRIT_FLAVOUR_MPICH;
}

/* By crit run -p: a process that registers by itself has memory, or tells its command line. */
static bool is_attached(const struct crit_rec_process *record)
{
	return !record->has_memfd && !record->arguments[0];
}

/* The last part of the path. */
static void copy_program(char ret_program[CRIT_PROGRAM_BYTES],
			 const struct crit_rec_process *record)
{
	char exe[CRIT_EXE_BYTES];
	const char *slash;

	copy_text(exe, sizeof(exe), record->exe, sizeof(record->exe));
	slash = strrchr(exe, '/');
	(void)snprintf(ret_program, CRIT_PROGRAM_BYTES, "%.*s", (int)CRIT_PROGRAM_BYTES - 1,
		       slash ? slash + 1 : exe);
}

static int take_process(struct crit_model *model, uint32_t index, const struct crit_chunk_ref *ref)
{
	const struct crit_node *node = &model->nodes[index];
	struct crit_rec_process record;
	struct crit_process *process;
	uint64_t time_ns;
	int64_t found;

	if (!crit_recording_read_struct(node->recording, ref, &record, sizeof(record)))
		return 0;
	time_ns = crit_model_time(node, record.time_ns);
	found = crit_process_find(model, index, record.pid, time_ns);
	if (found == CRIT_NONE || model->processes[found].is_gone)
		found = crit_process_add(model, index, record.pid, time_ns);
	if (found < 0)
		return (int)found;
	process = &model->processes[found];
	if (process->is_expelled) /* it lives on, as its shim says */
		process->end_ns = CRIT_TIME_MAX;
	process->ns_pid = record.ns_pid;
	process->is_registered = true;
	process->registered_ns = time_ns;
	copy_program(process->program, &record);
	process->flags |= record.flags;
	free(process->arguments);
	process->arguments = strndup(record.arguments, sizeof(record.arguments) - 1);
	if (!process->arguments)
		return -ENOMEM;
	process->has_mpi |= is_mpi_flavour(record.flavour);
	model->is_attached |= is_attached(&record);
	if (!model->flavour)
		model->flavour = record.flavour;
	if (!model->arguments[0])
		copy_text(model->arguments, sizeof(model->arguments), record.arguments,
			  sizeof(record.arguments));
	return 0;
}

/* The process that speaks now; one whose PROCESS chunk is lost is made here.  Errors: -ENOMEM. */
static int64_t speaker(struct crit_model *model, uint32_t node, uint32_t pid, uint64_t time_ns)
{
	uint32_t index = crit_process_find(model, node, pid, time_ns);

	if (index != CRIT_NONE && !model->processes[index].is_gone)
		return index;
	return crit_process_add(model, node, pid, time_ns);
}

/* The first one names the run's job; tasks are told apart. */
static int take_job(struct crit_model *model, uint32_t index, const struct crit_chunk_ref *ref)
{
	const struct crit_node *node = &model->nodes[index];
	struct crit_rec_job record;
	int64_t process;

	if (!crit_recording_read_struct(node->recording, ref, &record, sizeof(record)))
		return 0;
	process = speaker(model, index, record.pid, crit_model_time(node, record.time_ns));
	if (process < 0)
		return (int)process;
	model->processes[process].task = record.job.task;
	if (model->job.scheduler[0])
		return 0;
	model->job.restart_count = record.job.restart_count;
	copy_text(model->job.scheduler, sizeof(model->job.scheduler), record.job.scheduler,
		  sizeof(record.job.scheduler));
	copy_text(model->job.name, sizeof(model->job.name), record.job.name,
		  sizeof(record.job.name));
	copy_text(model->job.step, sizeof(model->job.step), record.job.step,
		  sizeof(record.job.step));
	copy_text(model->job.array, sizeof(model->job.array), record.job.array,
		  sizeof(record.job.array));
	return 0;
}

/* 0: it registered before. */
static uint64_t read_init_ns(const struct crit_node *node, const struct crit_chunk_ref *ref)
{
	uint64_t init_ns;

	return crit_recording_read(node->recording, ref, sizeof(struct crit_rec_rank), &init_ns,
				   sizeof(init_ns)) == (ssize_t)sizeof(init_ns)
		       ? crit_model_time(node, init_ns)
		       : 0;
}

static int take_rank(struct crit_model *model, uint32_t index, const struct crit_chunk_ref *ref)
{
	const struct crit_node *node = &model->nodes[index];
	struct crit_rec_rank record;
	struct crit_rank *rank;
	uint64_t time_ns;
	int64_t process;
	int rc;

	if (!crit_recording_read_struct(node->recording, ref, &record, sizeof(record)))
		return 0;
	time_ns = crit_model_time(node, record.open_ns);
	process = speaker(model, index, record.pid, time_ns);
	if (process < 0)
		return (int)process;
	if (model->processes[process].rank != CRIT_NONE)
		return 0; /* another session of the same process: its part is open already */
	rc = crit_array_grow(&model->ranks, &model->rank_capacity, model->rank_count + 1,
			     sizeof(*model->ranks));
	if (rc)
		return rc;
	rank = &model->ranks[model->rank_count];
	*rank = (struct crit_rank){ .node = index,
				    .process = (uint32_t)process,
				    .rank = record.rank,
				    .size = record.size,
				    .open_ns = time_ns,
				    .init_ns = read_init_ns(node, ref),
				    .close_ns = CRIT_TIME_MAX,
				    .is_open = true };
	copy_text(rank->world, sizeof(rank->world), record.world, sizeof(record.world));
	if (!model->library[0])
		copy_text(model->library, sizeof(model->library), record.library,
			  sizeof(record.library));
	model->processes[process].rank = (uint32_t)model->rank_count++;
	model->processes[process].has_mpi = true;
	return 0;
}

static void take_close(struct crit_model *model, uint32_t index, const struct crit_chunk_ref *ref)
{
	const struct crit_node *node = &model->nodes[index];
	struct crit_rec_close record;
	struct crit_rank *rank;
	uint32_t process;

	if (!crit_recording_read_struct(node->recording, ref, &record, sizeof(record)))
		return;
	process = crit_process_find(model, index, record.pid,
				    record.has_reopened ? CRIT_TIME_MAX - 1
							: crit_model_time(node, record.close_ns));
	if (process == CRIT_NONE || model->processes[process].rank == CRIT_NONE)
		return;
	rank = &model->ranks[model->processes[process].rank];
	rank->is_open = record.has_reopened;
	rank->close_ns = record.has_reopened ? CRIT_TIME_MAX
					     : crit_model_time(node, record.close_ns);
}

static void take_gone(struct crit_model *model, uint32_t index, const struct crit_chunk_ref *ref)
{
	const struct crit_node *node = &model->nodes[index];
	struct crit_rec_gone record;
	uint64_t time_ns;
	uint32_t process;

	if (!crit_recording_read_struct(node->recording, ref, &record, sizeof(record)))
		return;
	time_ns = crit_model_time(node, record.time_ns);
	process = crit_process_find_registered(model, index, record.pid);
	if (process == CRIT_NONE || model->processes[process].is_gone)
		return;
	model->processes[process].is_gone = true;
	if (time_ns < model->processes[process].end_ns)
		model->processes[process].end_ns = time_ns;
	if (!model->processes[process].has_kernel && time_ns > model->nodes[index].end_ns)
		model->nodes[index].end_ns = time_ns;
}

/* Names of threads that lived when critd looked; an exit record knows better. */
static int take_names(struct crit_model *model, uint32_t index, const struct crit_chunk_ref *ref,
		      const struct crit_map *tids)
{
	const struct crit_node *node = &model->nodes[index];
	struct crit_rec_name record;

	for (size_t at = 0; crit_recording_read(node->recording, ref, at, &record,
						sizeof(record)) == (ssize_t)sizeof(record);
	     at += sizeof(record)) {
		uint32_t found = crit_map_get(tids, record.tid);
		struct crit_thread *thread = found == CRIT_NONE ? NULL : &model->threads[found];

		if (!thread || thread->has_exit_name || thread->death_ns != CRIT_TIME_MAX)
			continue;
		memcpy(thread->name, record.comm, sizeof(thread->name));
		if (thread->process == CRIT_NONE) {
			int rc = crit_process_thread_began(
				model, found, &(struct crit_birth){ .tgid = record.tgid });

			if (rc)
				return rc;
		}
	}
	return 0;
}

static int take_all(struct crit_model *model, uint32_t index, const struct crit_map *tids)
{
	const struct crit_recording *recording = model->nodes[index].recording;
	int rc = 0;

	for (size_t i = 0; i < recording->ref_count && !rc; i++) {
		const struct crit_chunk_ref *ref = &recording->refs[i];

		if (ref->kind == CRIT_C_PROCESS)
			rc = take_process(model, index, ref);
		else if (ref->kind == CRIT_C_JOB)
			rc = take_job(model, index, ref);
		else if (ref->kind == CRIT_C_RANK)
			rc = take_rank(model, index, ref);
		else if (ref->kind == CRIT_C_CLOSE)
			take_close(model, index, ref);
		else if (ref->kind == CRIT_C_GONE)
			take_gone(model, index, ref);
		else if (ref->kind == CRIT_C_NAMES)
			rc = take_names(model, index, ref, tids);
	}
	return rc;
}

int crit_register_clients(struct crit_model *model, uint32_t index)
{
	struct crit_map tids = { 0 };
	uint32_t first = model->nodes[index].first_thread;
	int rc = 0;

	for (uint32_t i = first; i < model->thread_count && !rc; i++)
		rc = crit_map_set(&tids, model->threads[i].tid, i);
	if (!rc)
		rc = take_all(model, index, &tids);
	crit_map_fini(&tids);
	for (uint32_t i = first; i < model->thread_count && !rc;
	     i++) { /* nobody said whose they are */
		if (model->threads[i].process == CRIT_NONE)
			rc = crit_process_thread_began(
				model, i, &(struct crit_birth){ .tgid = model->threads[i].tid });
	}
	return rc;
}
