// SPDX-License-Identifier: BSD-3-Clause
// Keeps the members of each collective operation until it is known who entered last.
#include "analysis/mpi/meetings.h"

#include <stdlib.h>

#include "core/base/hash.h"
#include "core/base/map.h"

struct crit_meeting {
	uint32_t communicator;
	uint32_t sequence;
	struct crit_attendance *members; /* in the order they were told of */
	size_t count, capacity;
	struct crit_map requested; /* member -> index into members, of those with a request */
	uint32_t open; /* requests that are not complete */
	uint32_t last; /* index into members, once closed */
	uint32_t next; /* in the list of free ones */
	bool is_closed;
};

void crit_meetings_init(struct crit_meetings *meetings, struct crit_listeners *listeners)
{
	*meetings = (struct crit_meetings){ .free = CRIT_NONE };
	if (listeners && crit_listeners_want(listeners, CRIT_EDGE_COLLECTIVE))
		meetings->listeners = listeners;
}

void crit_meetings_fini(struct crit_meetings *meetings)
{
	for (size_t i = 0; i < meetings->count; i++) {
		free(meetings->rows[i].members);
		crit_map_fini(&meetings->rows[i].requested);
	}
	free(meetings->rows);
	crit_index_fini(&meetings->places);
	crit_meetings_init(meetings, NULL);
}

static uint64_t hash_of(uint32_t communicator, uint32_t sequence)
{
	return crit_hash_mix(sequence, (uint64_t)communicator << 32);
}

static uint32_t find(const struct crit_meetings *meetings, uint32_t communicator, uint32_t sequence,
		     struct crit_probe *ret_probe)
{
	uint32_t at =
		crit_index_first(&meetings->places, hash_of(communicator, sequence), ret_probe);

	while (at != CRIT_NONE && (meetings->rows[at].communicator != communicator ||
				   meetings->rows[at].sequence != sequence))
		at = crit_index_next(&meetings->places, ret_probe);
	return at;
}

/* Errors: -ENOMEM. */
static int add_meeting(struct crit_meetings *meetings, const struct crit_attendance *first,
		       uint32_t *ret_at)
{
	uint32_t at = meetings->free;
	int rc = 0;

	if (at == CRIT_NONE) {
		at = (uint32_t)meetings->count;
		rc = crit_array_grow(&meetings->rows, &meetings->capacity, meetings->count + 1,
				     sizeof(*meetings->rows));
	}
	if (!rc)
		rc = crit_index_put(&meetings->places,
				    hash_of(first->communicator, first->sequence), at);
	if (rc)
		return rc;
	if (at == meetings->count)
		meetings->count++;
	else
		meetings->free = meetings->rows[at].next;
	meetings->rows[at] = (struct crit_meeting){ .communicator = first->communicator,
						    .sequence = first->sequence,
						    .last = CRIT_NONE };
	*ret_at = at;
	return 0;
}

static void end_meeting(struct crit_meetings *meetings, uint32_t at, const struct crit_probe *probe)
{
	struct crit_meeting *meeting = &meetings->rows[at];

	crit_index_remove(&meetings->places, probe);
	meetings->member_count -= meeting->count;
	free(meeting->members);
	crit_map_fini(&meeting->requested);
	*meeting = (struct crit_meeting){ .next = meetings->free };
	meetings->free = at;
}

int crit_meetings_arrive(struct crit_meetings *meetings, const struct crit_attendance *attendance)
{
	struct crit_probe probe;
	struct crit_meeting *meeting;
	uint32_t at;
	int rc = 0;

	if (meetings->member_count == CRIT_MEETING_MEMBERS_MAX)
		return 0;
	at = find(meetings, attendance->communicator, attendance->sequence, &probe);
	if (at == CRIT_NONE)
		rc = add_meeting(meetings, attendance, &at);
	if (rc)
		return rc;
	meeting = &meetings->rows[at];
	rc = crit_array_grow(&meeting->members, &meeting->capacity, meeting->count + 1,
			     sizeof(*meeting->members));
	if (!rc && attendance->end_ns == UINT64_MAX)
		rc = crit_map_set(&meeting->requested, attendance->member,
				  (uint32_t)meeting->count);
	if (rc)
		return rc;
	meeting->members[meeting->count++] = *attendance;
	meeting->open += attendance->end_ns == UINT64_MAX;
	meetings->member_count++;
	return 0;
}

/* The last one waits for nobody. */
static void tell(const struct crit_meetings *meetings, const struct crit_meeting *meeting,
		 const struct crit_attendance *waiter)
{
	const struct crit_attendance *last = &meeting->members[meeting->last];

	if (waiter->member == last->member)
		return;
	crit_listeners_tell_edge(meetings->listeners,
				 &(struct crit_edge){ .begin_ns = waiter->begin_ns,
						      .end_ns = waiter->end_ns,
						      .cause_ns = last->enter_ns,
						      .object = waiter->communicator,
						      .waiter = waiter->waiter,
						      .cause = last->thread,
						      .call = waiter->call,
						      .kind = CRIT_EDGE_COLLECTIVE });
}

static uint32_t place_of(const struct crit_meeting *meeting, uint32_t member)
{
	for (uint32_t i = 0; i < meeting->count; i++) {
		if (meeting->members[i].member == member)
			return i;
	}
	return CRIT_NONE;
}

void crit_meetings_complete(struct crit_meetings *meetings,
			    const struct crit_attendance *attendance)
{
	struct crit_probe probe;
	struct crit_meeting *meeting;
	struct crit_attendance *member;
	uint32_t at = find(meetings, attendance->communicator, attendance->sequence, &probe), i;

	if (at == CRIT_NONE)
		return;
	meeting = &meetings->rows[at];
	i = crit_map_get(&meeting->requested, attendance->member);
	if (i == CRIT_NONE || meeting->members[i].end_ns != UINT64_MAX)
		return;
	meeting->open--;
	member = &meeting->members[i];
	member->waiter = attendance->waiter;
	member->begin_ns = attendance->begin_ns;
	member->end_ns = attendance->end_ns;
	member->call = attendance->call;
	if (!meeting->is_closed)
		return; /* told with the others */
	tell(meetings, meeting, member);
	if (!meeting->open)
		end_meeting(meetings, at, &probe);
}

void crit_meetings_close(struct crit_meetings *meetings, uint32_t communicator, uint32_t sequence,
			 uint32_t last)
{
	struct crit_probe probe;
	struct crit_meeting *meeting;
	uint32_t at;

	if (!meetings->listeners)
		return;
	at = find(meetings, communicator, sequence, &probe);
	if (at == CRIT_NONE)
		return;
	meeting = &meetings->rows[at];
	meeting->is_closed = true;
	meeting->last = place_of(meeting, last);
	for (size_t i = 0; i < meeting->count && meeting->last != CRIT_NONE; i++) {
		if (meeting->members[i].end_ns != UINT64_MAX)
			tell(meetings, meeting, &meeting->members[i]);
	}
	if (!meeting->open || meeting->last == CRIT_NONE)
		end_meeting(meetings, at, &probe);
}
