// SPDX-License-Identifier: BSD-3-Clause
// Entries of a film by time, backwards.
#include "analysis/waits/film/rewind.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/base/array.h"

void crit_rewind_init(struct crit_rewind *rewind, struct crit_film *film)
{
	*rewind = (struct crit_rewind){ .film = film, .time_ns = UINT64_MAX };
	for (size_t i = 0; i < CRIT_FILM_GROUPS; i++)
		rewind->bytes_from[i] = UINT32_MAX;
}

void crit_rewind_fini(struct crit_rewind *rewind)
{
	free(rewind->now);
	free(rewind->causes);
	*rewind = (struct crit_rewind){ 0 };
}

/* Of one time, by who acts: which of two acts ends a wait must not depend on who wrote first. */
static bool is_before(const struct crit_film_entry *a, const struct crit_film_entry *b)
{
	return a->time_ns != b->time_ns ? a->time_ns > b->time_ns : a->node < b->node;
}

static int keep_cause(struct crit_rewind *rewind, const struct crit_film_entry *cause)
{
	struct crit_film_entry *heap;
	size_t at = rewind->cause_count;
	int rc = crit_array_grow(&rewind->causes, &rewind->cause_capacity, at + 1, sizeof(*heap));

	if (rc)
		return rc;
	heap = rewind->causes;
	for (; at && is_before(cause, &heap[(at - 1) / 2]); at = (at - 1) / 2)
		heap[at] = heap[(at - 1) / 2];
	heap[at] = *cause;
	rewind->cause_count++;
	return 0;
}

static struct crit_film_entry take_cause(struct crit_rewind *rewind)
{
	struct crit_film_entry *heap = rewind->causes, first = heap[0];
	const size_t count = --rewind->cause_count;
	size_t at = 0;

	for (size_t child = 1; child < count; child = 2 * at + 1) {
		if (child + 1 < count && is_before(&heap[child + 1], &heap[child]))
			child++;
		if (!is_before(&heap[child], &heap[count]))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = heap[count];
	return first;
}

/* Reads the next entry that is not of sizes, nor what they exclude. */
static int read_entry(struct crit_rewind *rewind, struct crit_film_entry *entry)
{
	int rc = crit_film_back(rewind->film, entry);

	while (rc > 0 && (entry->type == CRIT_FILM_BYTES || entry->type == CRIT_FILM_BYTES_FROM)) {
		if (entry->kind >= CRIT_FILM_GROUPS)
			return -EPROTO;
		if (entry->type == CRIT_FILM_BYTES_FROM)
			rewind->bytes_from[entry->kind] = entry->number;
		else if (entry->number < rewind->bytes_from[entry->kind])
			rc = crit_film_back(rewind->film, entry); /* left out */
		if (rc > 0)
			rc = crit_film_back(rewind->film, entry);
	}
	return rc;
}

/* Reads the next entry that is no cause, if there is one and it was not read. */
static int look_ahead(struct crit_rewind *rewind)
{
	struct crit_film_entry *ahead = &rewind->ahead;
	int rc = 0;

	while (ahead->type == CRIT_FILM_NONE) {
		rc = read_entry(rewind, ahead);
		if (rc <= 0)
			return rc;
		if (ahead->time_ns > rewind->time_ns)
			return -EPROTO;
		if (!crit_film_is_late((enum crit_film_type)ahead->type))
			break;
		rc = keep_cause(rewind, ahead);
		if (rc)
			return rc;
		ahead->type = CRIT_FILM_NONE;
	}
	return 0;
}

static int append(struct crit_rewind *rewind, const struct crit_film_entry *entry)
{
	int rc = crit_array_grow(&rewind->now, &rewind->capacity, rewind->count + 1,
				 sizeof(*rewind->now));

	if (!rc)
		rewind->now[rewind->count++] = *entry;
	return rc;
}

int crit_rewind_next(struct crit_rewind *rewind)
{
	struct crit_film_entry *ahead = &rewind->ahead;
	int rc = look_ahead(rewind);

	rewind->count = 0;
	if (rc)
		return rc;
	if (ahead->type == CRIT_FILM_NONE && !rewind->cause_count)
		return 0;
	rewind->time_ns = ahead->type ? ahead->time_ns : 0;
	if (rewind->cause_count && rewind->causes[0].time_ns > rewind->time_ns)
		rewind->time_ns = rewind->causes[0].time_ns;
	while (ahead->type && ahead->time_ns == rewind->time_ns) {
		rc = append(rewind, ahead);
		ahead->type = CRIT_FILM_NONE;
		if (!rc)
			rc = look_ahead(rewind);
		if (rc)
			return rc;
	}
	while (rewind->cause_count && rewind->causes[0].time_ns == rewind->time_ns) {
		const struct crit_film_entry cause = take_cause(rewind);

		rc = append(rewind, &cause);
		if (rc)
			return rc;
	}
	return 1;
}
