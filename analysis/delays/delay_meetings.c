// SPDX-License-Identifier: BSD-3-Clause
// Rows that are used again, found by name.
#include "analysis/delays/delay_meetings.h"

#include <stdlib.h>

void crit_delay_meetings_fini(struct crit_delay_meetings *meetings)
{
	free(meetings->rows);
	free(meetings->unused);
	crit_index_fini(&meetings->names);
	*meetings = (struct crit_delay_meetings){ 0 };
}

static uint32_t find(const struct crit_delay_meetings *meetings, uint32_t name,
		     struct crit_probe *ret_probe)
{
	uint32_t row = crit_index_first(&meetings->names, crit_hash_mix(name, 0), ret_probe);

	while (row != CRIT_NONE && meetings->rows[row].name != name)
		row = crit_index_next(&meetings->names, ret_probe);
	return row;
}

/* Errors: -ENOMEM. */
static int make_row(struct crit_delay_meetings *meetings, uint32_t *ret_row)
{
	int rc;

	if (meetings->unused_count) {
		*ret_row = meetings->unused[--meetings->unused_count];
		return 0;
	}
	rc = crit_array_grow(&meetings->rows, &meetings->capacity, meetings->count + 1,
			     sizeof(*meetings->rows));
	/* so that a row can always be given back */
	if (!rc)
		rc = crit_array_grow(&meetings->unused, &meetings->unused_capacity,
				     meetings->count + 1, sizeof(*meetings->unused));
	if (!rc)
		*ret_row = (uint32_t)meetings->count++;
	return rc;
}

/* The times are large, so what they have is not written where they have nothing. */
static void clear(struct crit_delay_meeting *meeting, uint32_t name)
{
	meeting->name = name;
	meeting->member_count = 0;
	meeting->late = CRIT_NONE;
	meeting->late_bucket = 0;
	meeting->is_over = false;
	meeting->came_ns = meeting->late_ns = 0;
	crit_key_times_clear(&meeting->late_times);
	crit_key_times_clear(&meeting->sums);
}

int crit_delay_meetings_obtain(struct crit_delay_meetings *meetings, uint32_t name,
			       uint32_t *ret_row)
{
	struct crit_probe probe;
	int rc;

	*ret_row = find(meetings, name, &probe);
	if (*ret_row != CRIT_NONE)
		return 0;
	rc = make_row(meetings, ret_row);
	if (rc)
		return rc;
	clear(&meetings->rows[*ret_row], name);
	return crit_index_put(&meetings->names, crit_hash_mix(name, 0), *ret_row);
}

void crit_delay_meetings_remove(struct crit_delay_meetings *meetings, uint32_t row)
{
	struct crit_probe probe;

	if (find(meetings, meetings->rows[row].name, &probe) == row)
		crit_index_remove(&meetings->names, &probe);
	meetings->unused[meetings->unused_count++] = row;
}
