// SPDX-License-Identifier: BSD-3-Clause
// Lives between the two passes: stretches told of late, ends, and the way back before their birth.
#include "analysis/model/life.h"

#include "analysis/model/model.h"
#include "analysis/model/processes.h"

int crit_lives_note_return(struct crit_model *model, const struct crit_return *noted,
			   uint64_t now_ns, uint64_t past_ns)
{
	uint64_t wants_ns = model->lives[noted->life].wants_ns;
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

void crit_lives_rewind(struct crit_model *model)
{
	size_t i;

	for (i = 0; i < model->life_count; i++) {
		struct crit_life *life = &model->lives[i];

		life->belief = CRIT_STATE_NONE;
		life->cpu = CRIT_CPU_ANY;
		life->events = 0;
		life->is_exiting = false;
		life->wants_ns = 0;
		life->switches = 0;
		life->preemptions = 0;
		life->unmatched = 0;
	}
}

void crit_lives_settle_exits(struct crit_model *model, uint32_t node)
{
	size_t i;

	for (i = model->nodes[node].first_life; i < model->life_count; i++) {
		struct crit_life *life = &model->lives[i];

		if (!life->is_exiting || life->belief == CRIT_STATE_NONE)
			continue;
		life->belief = CRIT_STATE_NONE;
		life->final_event = life->events;
		crit_process_life_ended(model, (uint32_t)i, life->last_ns);
	}
}
