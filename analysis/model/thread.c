// SPDX-License-Identifier: BSD-3-Clause
// Threads between index pass and replay: returns told late, ends, and the reset to before their
// birth.
#include "analysis/model/thread.h"

#include "analysis/model/model.h"
#include "analysis/model/processes.h"

int crit_threads_append(struct crit_model *model, uint32_t node, uint32_t *ret_index)
{
	int rc;

	*ret_index = CRIT_NONE;
	if (model->thread_count >= CRIT_THREADS_MAX)
		return 0;
	rc = crit_array_grow(&model->threads, &model->thread_capacity, model->thread_count + 1,
			     sizeof(*model->threads));
	if (rc)
		return rc;
	*ret_index = (uint32_t)model->thread_count++;
	model->threads[*ret_index] = (struct crit_thread){ .node = node,
							   .process = CRIT_NONE,
							   .creator = CRIT_NONE,
							   .older = CRIT_NONE,
							   .window = CRIT_NONE,
							   .next_in_window = CRIT_NONE,
							   .final_event = CRIT_NONE,
							   .revised_first = CRIT_NONE,
							   .revised_last = CRIT_NONE };
	return 0;
}

int crit_threads_revise(struct crit_model *model, struct crit_thread *thread,
			enum crit_kernel_state state)
{
	uint32_t index = (uint32_t)model->revision_count;
	int rc;

	if (thread->revised_last != CRIT_NONE &&
	    model->revisions[thread->revised_last].event == thread->events)
		return 0;
	rc = crit_array_grow(&model->revisions, &model->revision_capacity, index + 1ull,
			     sizeof(*model->revisions));
	if (rc)
		return rc;
	model->revisions[index] =
		(struct crit_revision){ thread->events, CRIT_NONE, (uint8_t)state };
	if (thread->revised_last == CRIT_NONE)
		thread->revised_first = index;
	else
		model->revisions[thread->revised_last].next = index;
	thread->revised_last = index;
	model->revision_count++;
	return 0;
}

int crit_threads_note_return(struct crit_model *model, const struct crit_return *noted,
			     uint64_t now_ns, uint64_t past_ns)
{
	uint64_t wants_ns = model->threads[noted->thread].wants_ns;
	struct crit_return row = *noted;
	int rc;

	if (!wants_ns)
		return 0;
	row.time_ns = past_ns < now_ns ? now_ns - past_ns : 0;
	if (row.time_ns <= wants_ns)
		row.time_ns = wants_ns + 1; /* what made it so comes first */
	if (row.time_ns > now_ns)
		return 0;
	rc = crit_array_grow(&model->returns, &model->return_capacity, model->return_count + 1,
			     sizeof(*model->returns));
	if (!rc)
		model->returns[model->return_count++] = row;
	return rc;
}

void crit_threads_rewind(struct crit_model *model)
{
	for (size_t i = 0; i < model->thread_count; i++) {
		struct crit_thread *thread = &model->threads[i];

		thread->belief = CRIT_STATE_NONE;
		thread->cpu = CRIT_CPU_ANY;
		thread->events = 0;
		thread->is_exiting = false;
		thread->wants_ns = 0;
		thread->woken_ns = 0;
		thread->switches = 0;
		thread->preemptions = 0;
		thread->unmatched = 0;
	}
}

void crit_threads_settle_exits(struct crit_model *model, uint32_t node)
{
	for (size_t i = model->nodes[node].first_thread; i < model->thread_count; i++) {
		struct crit_thread *thread = &model->threads[i];

		if (!thread->is_exiting || thread->belief == CRIT_STATE_NONE)
			continue;
		thread->belief = CRIT_STATE_NONE;
		thread->final_event = thread->events;
		crit_process_thread_ended(model, (uint32_t)i, thread->last_ns);
	}
}
