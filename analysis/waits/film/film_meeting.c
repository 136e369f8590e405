// SPDX-License-Identifier: BSD-3-Clause
// Finds the object of a meeting by who comes last to it.
#include "analysis/waits/film/film_meeting.h"

/* Where the thread arrives, as the last one if it does so anywhere; 0: nowhere. */
static uint32_t object_at(const char *rows, size_t count, size_t row_bytes, uint32_t thread)
{
	uint32_t object = 0;

	for (size_t i = 0; i < count; i++) {
		const struct crit_film_entry *entry = (const void *)(rows + i * row_bytes);

		if (entry->type != CRIT_FILM_ARRIVAL || entry->node != thread)
			continue;
		if (entry->kind & CRIT_FILM_LAST)
			return entry->number;
		object = object ? object : entry->number;
	}
	return object;
}

bool crit_film_meet(void *rows, size_t count, size_t row_bytes)
{
	uint32_t thread = CRIT_FILM_OBJECT, object = 0; /* of the cause before */
	bool is_any = false;

	for (size_t i = 0; i < count; i++) {
		struct crit_film_entry *entry = (void *)((char *)rows + i * row_bytes);

		if (entry->type != CRIT_FILM_CAUSE || entry->kind != CRIT_FILM_MEETS)
			continue;
		if (entry->node != thread)
			object = object_at(rows, count, row_bytes, entry->node);
		thread = entry->node;
		if (!object)
			continue;
		entry->type = CRIT_FILM_NEED;
		entry->node = object;
		is_any = true;
	}
	return is_any;
}
