// SPDX-License-Identifier: BSD-3-Clause
// Assigns each shim stream to its thread; without kernel records of it, assumes one.
#include "analysis/model/index_streams.h"

#include "analysis/model/processes.h"

static uint64_t last_event_ns(const struct crit_model *model, const struct crit_stream *stream)
{
	const struct crit_node *node = &model->nodes[stream->node];
	uint64_t last_ns = stream->last_ns > stream->claim_ns ? stream->last_ns : stream->claim_ns;

	if (stream->has_end && stream->end.release_ns)
		return crit_model_time(node, stream->end.release_ns);
	if (stream->has_end && stream->end.open_call &&
	    crit_model_time(node, stream->end.open_last_ns) > last_ns)
		last_ns = crit_model_time(node, stream->end.open_last_ns);
	return last_ns;
}

static bool is_main(const struct crit_process *process, uint32_t ns_tid)
{
	return ns_tid == (process->ns_pid ? process->ns_pid : process->pid);
}

/* A process is gone, or closed its part, or lives as long as the recording. */
static uint64_t process_end_ns(const struct crit_model *model, const struct crit_process *process)
{
	const struct crit_rank *rank = process->rank == CRIT_NONE ? NULL
								  : &model->ranks[process->rank];

	if (process->end_ns != CRIT_TIME_MAX)
		return process->end_ns;
	return rank ? rank->close_ns : CRIT_TIME_MAX;
}

static int assume(struct crit_model *model, const struct crit_stream *stream, uint32_t *ret_thread)
{
	int64_t process = crit_process_find(model, stream->node, stream->pid, stream->claim_ns);
	struct crit_thread *thread;
	int rc;

	if (process == CRIT_NONE)
		process = crit_process_add(model, stream->node, stream->pid, stream->claim_ns);
	if (process < 0)
		return (int)process;
	rc = crit_threads_append(model, stream->node, ret_thread);
	if (rc || *ret_thread == CRIT_NONE)
		return rc;
	thread = &model->threads[*ret_thread];
	thread->tid = stream->ns_tid;
	thread->tgid = stream->pid;
	thread->ns_tid = stream->ns_tid;
	thread->process = (uint32_t)process;
	thread->birth_ns = stream->claim_ns ? stream->claim_ns : stream->first_ns;
	thread->is_assumed = true;
	return crit_process_file_thread(model, *ret_thread, stream->ns_tid);
}

static uint32_t find_thread(const struct crit_model *model, const struct crit_stream *stream)
{
	uint32_t thread = crit_process_find_thread(model, stream->node, stream->pid, stream->ns_tid,
						   stream->claim_ns);
	uint32_t process;

	if (thread ==
	    CRIT_NONE) { /* a main thread whose own number the kernel half could not tell */
		process = crit_process_find(model, stream->node, stream->pid, stream->claim_ns);
		if (process != CRIT_NONE && is_main(&model->processes[process], stream->ns_tid))
			thread = crit_process_find_thread(model, stream->node, stream->pid,
							  stream->pid, stream->claim_ns);
	}
	if (thread != CRIT_NONE && model->threads[thread].death_ns <= stream->claim_ns)
		return CRIT_NONE;
	return thread;
}

/* A registered process of which neither half saw a thread: its main thread is assumed. */
static int assume_main(struct crit_model *model, uint32_t index)
{
	const struct crit_process *process = &model->processes[index];
	struct crit_stream whole = { .node = process->node,
				     .pid = process->pid,
				     .ns_tid = process->ns_pid ? process->ns_pid : process->pid,
				     .claim_ns = process->begin_ns };
	uint32_t thread = CRIT_NONE;
	int rc = assume(model, &whole, &thread);

	if (!rc && thread != CRIT_NONE)
		model->threads[thread].death_ns = process_end_ns(model, process);
	return rc;
}

static int assume_mains(struct crit_model *model)
{
	struct crit_map seen = { 0 };
	int rc = 0;

	for (size_t i = 0; i < model->thread_count && !rc; i++)
		rc = crit_map_set(&seen, model->threads[i].process, 1);
	for (size_t i = 0; i < model->process_count && !rc; i++) {
		if (model->processes[i].is_registered && crit_map_get(&seen, i) == CRIT_NONE)
			rc = assume_main(model, (uint32_t)i);
	}
	crit_map_fini(&seen);
	return rc;
}

int crit_index_pass_streams(struct crit_model *model)
{
	int rc;

	for (size_t i = 0; i < model->stream_count; i++) {
		struct crit_stream *stream = &model->streams[i];
		uint32_t index = find_thread(model, stream);
		struct crit_thread *thread;

		if (index == CRIT_NONE) {
			rc = assume(model, stream, &index);
			if (rc)
				return rc;
		}
		stream->thread = index;
		if (index == CRIT_NONE)
			continue;
		thread = &model->threads[index];
		thread->has_stream = true;
		if (thread->process != CRIT_NONE)
			model->processes[thread->process].stream_count++;
		if (!thread->is_assumed)
			continue;
		thread->death_ns = last_event_ns(model, stream);
		if (is_main(&model->processes[thread->process], stream->ns_tid))
			thread->death_ns =
				process_end_ns(model, &model->processes[thread->process]);
	}
	return assume_mains(model);
}
