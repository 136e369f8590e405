// SPDX-License-Identifier: BSD-3-Clause
// Keeps processes and their threads apart, also when numbers are used again.
#include "analysis/model/processes.h"

#include <string.h>

static uint64_t thread_key(uint32_t tgid, uint32_t ns_tid)
{
	return (uint64_t)tgid << 32 | ns_tid;
}

int64_t crit_process_add(struct crit_model *model, uint32_t node, uint32_t pid, uint64_t begin_ns)
{
	uint32_t index = (uint32_t)model->process_count;
	int rc = crit_array_grow(&model->processes, &model->process_capacity, index + 1,
				 sizeof(*model->processes));

	if (rc)
		return rc;
	model->processes[index] = (struct crit_process){
		.node = node,
		.pid = pid,
		.parent = CRIT_NONE,
		.older = crit_map_get(&model->nodes[node].pids, pid),
		.rank = CRIT_NONE,
		.task = CRIT_TASK_NONE,
		.begin_ns = begin_ns,
		.end_ns = CRIT_TIME_MAX,
	};
	rc = crit_map_set(&model->nodes[node].pids, pid, index);
	if (rc)
		return rc;
	model->process_count++;
	return index;
}

uint32_t crit_process_find(const struct crit_model *model, uint32_t node, uint32_t pid,
			   uint64_t time_ns)
{
	uint32_t index = crit_map_get(&model->nodes[node].pids, pid);

	for (unsigned int uses = 0; index != CRIT_NONE && uses < CRIT_USES_MAX; uses++) {
		uint32_t older = model->processes[index].older;

		if (older == CRIT_NONE || model->processes[older].end_ns <= time_ns)
			return index;
		index = older;
	}
	return CRIT_NONE;
}

uint32_t crit_process_find_registered(const struct crit_model *model, uint32_t node, uint32_t pid)
{
	uint32_t index = crit_map_get(&model->nodes[node].pids, pid);

	for (unsigned int uses = 0; index != CRIT_NONE && uses < CRIT_USES_MAX; uses++) {
		if (model->processes[index].is_registered)
			return index;
		index = model->processes[index].older;
	}
	return CRIT_NONE;
}

uint32_t crit_process_find_thread(const struct crit_model *model, uint32_t node, uint32_t pid,
				  uint32_t ns_tid, uint64_t time_ns)
{
	uint32_t index = crit_map_get(&model->nodes[node].threads, thread_key(pid, ns_tid));

	for (unsigned int uses = 0; index != CRIT_NONE && uses < CRIT_USES_MAX; uses++) {
		uint32_t older = model->threads[index].older;

		if (older == CRIT_NONE || model->threads[older].death_ns <= time_ns)
			return index;
		index = older;
	}
	return CRIT_NONE;
}

int crit_process_file_thread(struct crit_model *model, uint32_t thread, uint32_t ns_tid)
{
	struct crit_map *threads = &model->nodes[model->threads[thread].node].threads;
	uint64_t key = thread_key(model->threads[thread].tgid, ns_tid);
	uint32_t newest;

	if (key == UINT64_MAX)
		return 0;
	newest = crit_map_get(threads, key);
	if (newest == thread)
		return 0;
	/* a thread filed twice (exec by a thread) keeps the chain of its newer name */
	if (newest == CRIT_NONE || newest < thread)
		model->threads[thread].older = newest;
	return crit_map_set(threads, key, thread);
}

static int join(struct crit_model *model, uint32_t index, const struct crit_birth *birth)
{
	struct crit_thread *thread = &model->threads[index];
	uint32_t process = CRIT_NONE;

	if (!birth->is_new) {
		process = crit_map_get(&model->nodes[thread->node].pids, birth->tgid);
		if (process != CRIT_NONE && !model->processes[process].live_threads &&
		    !model->processes[process].is_expelled)
			process = CRIT_NONE;
	}
	if (process == CRIT_NONE) {
		int64_t added =
			crit_process_add(model, thread->node, birth->tgid, thread->birth_ns);

		if (added < 0)
			return (int)added;
		process = (uint32_t)added;
		model->processes[process].parent_pid = birth->parent_pid;
		if (thread->creator != CRIT_NONE)
			model->processes[process].parent = model->threads[thread->creator].process;
	}
	if (thread->death_ns == CRIT_TIME_MAX)
		model->processes[process].live_threads++;
	model->processes[process].has_kernel = true;
	thread->process = process;
	thread->tgid = birth->tgid;
	return 0;
}

int crit_process_thread_began(struct crit_model *model, uint32_t thread,
			      const struct crit_birth *birth)
{
	int rc = join(model, thread, birth);

	if (rc)
		return rc;
	model->threads[thread].ns_tid = birth->ns_tid ? birth->ns_tid : model->threads[thread].tid;
	return crit_process_file_thread(model, thread, model->threads[thread].ns_tid);
}

int crit_process_thread_execed(struct crit_model *model, uint32_t index,
			       const struct crit_kernel_exec *record, bool is_adopted)
{
	struct crit_thread *thread = &model->threads[index];
	struct crit_birth birth = { .tgid = record->tgid, .ns_tid = record->ns_tid };

	if (!is_adopted && index == model->nodes[thread->node].first_thread &&
	    record->head.time_ns < model->first_exec_ns)
		model->first_exec_ns = record->head.time_ns;
	if (thread->process == CRIT_NONE)
		return crit_process_thread_began(model, index, &birth);
	if (record->old_tid == record->tid)
		return 0;
	thread->tid = record->tid;
	thread->ns_tid = record->ns_tid ? record->ns_tid : record->tid;
	return crit_process_file_thread(model, index, thread->ns_tid);
}

int crit_process_thread_named(struct crit_model *model, uint32_t thread,
			      const struct crit_kernel_exit *record)
{
	struct crit_birth birth = { .tgid = record->tgid };

	if (record->comm[0]) {
		memcpy(model->threads[thread].name, record->comm, CRIT_COMM_BYTES);
		model->threads[thread].has_exit_name = true;
	}
	if (model->threads[thread].process != CRIT_NONE)
		return 0;
	return crit_process_thread_began(model, thread, &birth);
}

void crit_process_thread_ended(struct crit_model *model, uint32_t thread, uint64_t time_ns)
{
	struct crit_process *process;

	model->threads[thread].death_ns = time_ns;
	if (model->threads[thread].process == CRIT_NONE)
		return;
	process = &model->processes[model->threads[thread].process];
	if (process->live_threads && --process->live_threads == 0)
		process->end_ns = time_ns;
}
