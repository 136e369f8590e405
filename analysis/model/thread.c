// SPDX-License-Identifier: BSD-3-Clause
// Threads between index pass and replay: returns told late, ends, and the reset to before their
// birth.
#include "analysis/model/thread.h"

#include "analysis/model/model.h"
#include "analysis/model/processes.h"

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
