// SPDX-License-Identifier: BSD-3-Clause
// Collects and sorts the appointments of a run.
#include "analysis/model/schedule.h"

#include <stdlib.h>

static int add(struct crit_schedule *schedule, enum crit_appointment_kind kind, size_t index,
	       uint64_t time_ns)
{
	int rc = crit_array_grow(&schedule->entries, &schedule->capacity, schedule->count + 1,
				 sizeof(*schedule->entries));

	if (!rc)
		schedule->entries[schedule->count++] =
			(struct crit_appointment){ time_ns, (uint32_t)index, kind };
	return rc;
}

static int compare(const void *left, const void *right)
{
	const struct crit_appointment *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

int crit_schedule_init(struct crit_schedule *schedule, const struct crit_model *model)
{
	size_t i;
	int rc = 0;

	for (i = 0; i <= model->rank_count && !rc; i++) {
		const struct crit_part *part = &model->parts[i];

		if (part->open_ns >= part->close_ns)
			continue;
		rc = add(schedule, CRIT_AT_OPEN, i, part->open_ns);
		if (!rc)
			rc = add(schedule, CRIT_AT_CLOSE, i, part->close_ns);
	}
	for (i = 0; i < model->life_count && !rc; i++) {
		const struct crit_life *life = &model->lives[i];

		if (life->is_assumed)
			rc = add(schedule, CRIT_AT_BIRTH, i, life->birth_ns);
		if (!rc)
			rc = add(schedule, CRIT_AT_DEATH, i, life->death_ns);
	}
	for (i = 0; i < model->return_count && !rc; i++)
		rc = add(schedule, CRIT_AT_RETURN, i, model->returns[i].time_ns);
	if (!rc && schedule->count)
		qsort(schedule->entries, schedule->count, sizeof(*schedule->entries), compare);
	return rc;
}

void crit_schedule_fini(struct crit_schedule *schedule)
{
	free(schedule->entries);
	schedule->entries = NULL;
}
