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
	free(rewind->now.entries);
	crit_entry_queue_fini(&rewind->causes);
	*rewind = (struct crit_rewind){ 0 };
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

/* Where a thread that was thought to have no CPU had one: the end of that is told in its time. */
static int split_queue(struct crit_rewind *rewind, const struct crit_film_entry *run)
{
	const struct crit_film_entry queue = { .time_ns = crit_film_without_since(run),
					       .node = run->node,
					       .type = CRIT_FILM_QUEUE };

	return crit_entry_queue_put(&rewind->causes, &queue);
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
		if (crit_film_tells_without(ahead))
			return split_queue(rewind, ahead);
		if (!crit_film_is_late((enum crit_film_type)ahead->type))
			break;
		rc = crit_entry_queue_put(&rewind->causes, ahead);
		if (rc)
			return rc;
		ahead->type = CRIT_FILM_NONE;
	}
	return 0;
}

static int append(struct crit_entry_list *list, const struct crit_film_entry *entry)
{
	int rc = crit_array_grow(&list->entries, &list->capacity, list->count + 1,
				 sizeof(*list->entries));

	if (!rc)
		list->entries[list->count++] = *entry;
	return rc;
}

int crit_rewind_next(struct crit_rewind *rewind)
{
	struct crit_film_entry *ahead = &rewind->ahead;
	struct crit_entry_queue *causes = &rewind->causes;
	int rc = look_ahead(rewind);

	rewind->now.count = 0;
	if (rc < 0)
		return rc;
	if (ahead->type == CRIT_FILM_NONE && crit_entry_queue_is_empty(causes))
		return 0;
	rewind->time_ns = ahead->type ? ahead->time_ns : 0;
	if (!crit_entry_queue_is_empty(causes) &&
	    crit_entry_queue_latest_ns(causes) > rewind->time_ns)
		rewind->time_ns = crit_entry_queue_latest_ns(causes);
	while (ahead->type && ahead->time_ns == rewind->time_ns) {
		rc = append(&rewind->now, ahead);
		ahead->type = CRIT_FILM_NONE;
		if (!rc)
			rc = look_ahead(rewind);
		if (rc < 0)
			return rc;
	}
	/* which of two acts of one time ends a wait must not depend on who wrote first */
	rc = !crit_entry_queue_is_empty(causes) &&
			     crit_entry_queue_latest_ns(causes) == rewind->time_ns
		     ? crit_entry_queue_take(causes, &rewind->now)
		     : 0;
	return rc ? rc : 1;
}
