// SPDX-License-Identifier: BSD-3-Clause
// Entries of a film by time, backwards.
#include "analysis/waits/film/rewind.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/base/array.h"

#define STRAIGHT /* types that are of their time as they are, but for a RUN that tells */          \
	(1u << CRIT_FILM_UNTIL | 1u << CRIT_FILM_WAIT | 1u << CRIT_FILM_END |                      \
	 1u << CRIT_FILM_QUEUE | 1u << CRIT_FILM_RUN | 1u << CRIT_FILM_SLEEP |                     \
	 1u << CRIT_FILM_WAKE)

void crit_rewind_init(struct crit_rewind *rewind, struct crit_film *film)
{
	*rewind = (struct crit_rewind){ .film = film, .time_ns = UINT64_MAX };
	for (size_t i = 0; i < CRIT_FILM_GROUPS; i++)
		rewind->bytes_from[i] = UINT32_MAX;
}

void crit_rewind_fini(struct crit_rewind *rewind)
{
	free(rewind->read.entries);
	crit_entry_queue_fini(&rewind->causes);
	*rewind = (struct crit_rewind){ 0 };
}

/* An entry of sizes is known; yields 1 with the next one that is not, nor what they exclude. */
static int skip_sizes(struct crit_rewind *rewind, struct crit_film_entry *entry)
{
	int rc = 1;

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

/* An entry that was read is kept, or is the next one. */
static int take_ahead(struct crit_rewind *rewind, const struct crit_film_entry *ahead)
{
	if (ahead->time_ns > rewind->time_ns || ahead->type == CRIT_FILM_NONE)
		return -EPROTO;
	if (crit_film_is_late((enum crit_film_type)ahead->type))
		return crit_entry_queue_put(&rewind->causes, ahead);
	rewind->has_ahead = true;
	return crit_film_tells_without(ahead) ? split_queue(rewind, ahead) : 0;
}

/* From an entry on that was read and needs more than a look. */
static int look_on(struct crit_rewind *rewind)
{
	struct crit_film_entry *ahead = &rewind->read.entries[rewind->read.count];
	int rc = 1;

	while (rc > 0) {
		rc = skip_sizes(rewind, ahead);
		if (rc <= 0)
			return rc;
		rc = take_ahead(rewind, ahead);
		if (rc || rewind->has_ahead)
			return rc;
		rc = crit_film_back(rewind->film, ahead);
	}
	return rc;
}

static int make_room(struct crit_entry_list *list)
{
	return crit_array_grow(&list->entries, &list->capacity, list->count + 1,
			       sizeof(*list->entries));
}

/* Reads the next entry that is no cause, if there is one.  Errors: -EPROTO, -ENOMEM. */
static inline int look_ahead(struct crit_rewind *rewind)
{
	struct crit_film_entry *ahead;
	int rc = make_room(&rewind->read);

	rewind->has_ahead = false;
	if (rc)
		return rc;
	ahead = &rewind->read.entries[rewind->read.count];
	rc = crit_film_back(rewind->film, ahead);
	if (rc <= 0)
		return rc;
	if (!(crit_film_type_bit(ahead->type) & STRAIGHT) || ahead->time_ns > rewind->time_ns ||
	    crit_film_tells_without(ahead))
		return look_on(rewind);
	rewind->has_ahead = true;
	return 0;
}

/* The causes of the time, before the entry ahead. */
static int take_causes(struct crit_rewind *rewind)
{
	struct crit_entry_list *read = &rewind->read;
	const struct crit_film_entry ahead = read->entries[read->count];
	int rc = crit_entry_queue_take(&rewind->causes, read);

	if (!rc)
		rc = make_room(read);
	if (!rc)
		read->entries[read->count] = ahead;
	return rc;
}

int crit_rewind_next(struct crit_rewind *rewind)
{
	struct crit_entry_list *read = &rewind->read;
	struct crit_entry_queue *causes = &rewind->causes;
	int rc = rewind->has_ahead ? 0 : look_ahead(rewind);

	rewind->before = read->count;
	if (rc)
		return rc;
	if (!rewind->has_ahead && crit_entry_queue_is_empty(causes))
		return 0;
	rewind->time_ns = rewind->has_ahead ? read->entries[read->count].time_ns : 0;
	if (crit_entry_queue_latest_ns(causes) > rewind->time_ns)
		rewind->time_ns = crit_entry_queue_latest_ns(causes);
	while (rewind->has_ahead && read->entries[read->count].time_ns == rewind->time_ns) {
		read->count++;
		rc = look_ahead(rewind);
		if (rc)
			return rc;
	}
	/* which of two acts of one time ends a wait must not depend on who wrote first */
	if (crit_entry_queue_latest_ns(causes) == rewind->time_ns &&
	    !crit_entry_queue_is_empty(causes))
		rc = take_causes(rewind);
	return rc ? rc : 1;
}

void crit_rewind_empty(struct crit_rewind *rewind)
{
	struct crit_entry_list *read = &rewind->read;

	if (rewind->has_ahead)
		read->entries[0] = read->entries[read->count];
	read->count = 0;
	rewind->before = 0;
}
