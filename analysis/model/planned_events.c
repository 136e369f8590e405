// SPDX-License-Identifier: BSD-3-Clause
// Collects the planned events of a run and sorts them by time.
#include "analysis/model/planned_events.h"

#include <stdlib.h>

#include "analysis/model/model.h"

struct crit_planned_events {
	struct crit_planned_event *entries; /* sorted */
	size_t count, capacity;
	size_t at;
};

static int add(struct crit_planned_events *planned, enum crit_planned_event_kind kind, size_t index,
	       uint64_t time_ns)
{
	int rc = crit_array_grow(&planned->entries, &planned->capacity, planned->count + 1,
				 sizeof(*planned->entries));

	if (!rc)
		planned->entries[planned->count++] =
			(struct crit_planned_event){ time_ns, (uint32_t)index, kind };
	return rc;
}

static int compare(const void *left, const void *right)
{
	const struct crit_planned_event *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

static uint64_t time_of(const void *event)
{
	return ((const struct crit_planned_event *)event)->time_ns;
}

static const struct crit_row_order by_time = { sizeof(struct crit_planned_event), time_of,
					       compare };

static int add_all(struct crit_planned_events *planned, const struct crit_model *model)
{
	int rc = 0;

	for (size_t i = 0; i <= model->rank_count && !rc; i++) {
		const struct crit_rank_window *window = &model->windows[i];

		if (window->open_ns >= window->close_ns)
			continue;
		rc = add(planned, CRIT_AT_OPEN, i, window->open_ns);
		if (!rc)
			rc = add(planned, CRIT_AT_CLOSE, i, window->close_ns);
	}
	for (size_t i = 0; i < model->thread_count && !rc; i++) {
		const struct crit_thread *thread = &model->threads[i];

		if (thread->is_assumed)
			rc = add(planned, CRIT_AT_BIRTH, i, thread->birth_ns);
		if (!rc)
			rc = add(planned, CRIT_AT_DEATH, i, thread->death_ns);
	}
	for (size_t i = 0; i < model->return_count && !rc; i++)
		rc = add(planned, CRIT_AT_RETURN, i, model->returns[i].time_ns);
	if (!rc)
		crit_array_sort_rows(planned->entries, planned->count, &by_time);
	return rc;
}

struct crit_planned_events *crit_planned_events_create(const struct crit_model *model)
{
	struct crit_planned_events *planned = calloc(1, sizeof(*planned));

	if (planned && !add_all(planned, model))
		return planned;
	crit_planned_events_destroy(planned);
	return NULL;
}

void crit_planned_events_destroy(struct crit_planned_events *planned)
{
	if (!planned)
		return;
	free(planned->entries);
	free(planned);
}

const struct crit_planned_event *
crit_planned_events_front(const struct crit_planned_events *planned)
{
	return planned->at < planned->count ? &planned->entries[planned->at] : NULL;
}

void crit_planned_events_pop(struct crit_planned_events *planned)
{
	planned->at++;
}
