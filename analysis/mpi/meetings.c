// SPDX-License-Identifier: BSD-3-Clause
// Keeps the members of each collective operation until it is known who entered when.
#include "analysis/mpi/meetings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "analysis/mpi/rendezvous.h"
#include "core/base/call.h"
#include "core/base/hash.h"
#include "core/base/map.h"

enum flow { /* of data, which members need */
	FLOW_ALL = 0, /* of all */
	FLOW_FROM_ROOT,
	FLOW_TO_ROOT,
	FLOW_PREFIX, /* of lower ranks */
	FLOW_TOGETHER, /* of all, or FLOW_LOOSE */
	FLOW_LOOSE, /* of all, of some or of none */
	FLOW_SOME /* of some, which ones is not recorded */
};

struct crit_meeting {
	uint32_t communicator;
	uint32_t sequence;
	struct crit_attendance *members; /* in the order they were told of */
	size_t count, capacity;
	struct crit_map requested; /* member -> index into members, of those with a request */
	uint32_t open; /* requests that are not complete */
	/*
	 * by members, once closed: index of who it had to wait for; CRIT_NONE.  FLOW_SOME: the
	 * indices in the order in which they entered
	 */
	uint32_t *needed;
	uint32_t next; /* in the list of free ones */
	uint64_t number; /* of its arrivals; 0: they are not told */
	enum flow flow;
	bool is_closed;
};

void crit_meetings_init(struct crit_meetings *meetings, struct crit_listeners *listeners)
{
	*meetings = (struct crit_meetings){ .free = CRIT_NONE };
	if (listeners && (crit_listeners_want(listeners, CRIT_EDGE_COLLECTIVE) ||
			  crit_listeners_want(listeners, CRIT_EDGE_MEETING)))
		meetings->listeners = listeners;
}

void crit_meetings_fini(struct crit_meetings *meetings)
{
	for (size_t i = 0; i < meetings->count; i++) {
		free(meetings->rows[i].members);
		free(meetings->rows[i].needed);
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

/* Of MPI_Bcast as of MPI_Ibcast, MPI_Bcast_c and MPI_Bcast_init. */
static enum flow flow_of(uint16_t operation)
{
	static const struct {
		const char *name;
		enum flow flow;
	} flows[] = { { "bcast", FLOW_FROM_ROOT }, { "scatter", FLOW_FROM_ROOT },
		      { "reduce_", FLOW_ALL },     { "reduce", FLOW_TO_ROOT },
		      { "gather", FLOW_TO_ROOT },  { "scan", FLOW_PREFIX },
		      { "exscan", FLOW_PREFIX },   { "alltoallv", FLOW_SOME },
		      { "alltoallw", FLOW_SOME },  { "neighbor", FLOW_SOME } };
	const char *name = crit_call_name(operation);

	if (crit_call_group(operation) != CRIT_GROUP_COLLECTIVE)
		return FLOW_TOGETHER;
	name += name[4] == 'I' ? 5 : 4;
	if (!strcasecmp(name, "reduce_c") || !strncasecmp(name, "reduce_init", 11))
		return FLOW_TO_ROOT;
	for (size_t i = 0; i < sizeof(flows) / sizeof(flows[0]); i++) {
		if (!strncasecmp(name, flows[i].name, strlen(flows[i].name)))
			return flows[i].flow;
	}
	return FLOW_ALL;
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
	if (meetings->operation != first->operation)
		meetings->flow = (uint8_t)flow_of(first->operation);
	meetings->operation = first->operation;
	meetings->rows[at] = (struct crit_meeting){ .communicator = first->communicator,
						    .sequence = first->sequence,
						    .flow = (enum flow)meetings->flow };
	*ret_at = at;
	return 0;
}

static void end_meeting(struct crit_meetings *meetings, uint32_t at, const struct crit_probe *probe)
{
	struct crit_meeting *meeting = &meetings->rows[at];

	crit_index_remove(&meetings->places, probe);
	meetings->member_count -= meeting->count;
	free(meeting->members);
	free(meeting->needed);
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

/* A member needs all that came until it did itself. */
static void tell_meeting(const struct crit_meetings *meetings, const struct crit_meeting *meeting,
			 const struct crit_attendance *waiter)
{
	crit_listeners_tell_edge(meetings->listeners,
				 &(struct crit_edge){ .begin_ns = waiter->begin_ns,
						      .end_ns = waiter->end_ns,
						      .cause_ns = waiter->enter_ns,
						      .object = meeting->number,
						      .waiter = waiter->waiter,
						      .cause = waiter->thread,
						      .call = waiter->call,
						      .kind = CRIT_EDGE_MEETING });
}

/* Of FLOW_SOME: how many entered until a time. */
static uint32_t count_entered(const struct crit_meeting *meeting, uint64_t time_ns)
{
	uint32_t low = 0, high = meeting->count;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;

		if (meeting->members[meeting->needed[middle]].enter_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Of FLOW_SOME: the only one that entered while a member waited; CRIT_NONE. */
static uint32_t find_only(const struct crit_meeting *meeting, const struct crit_attendance *waiter)
{
	const uint32_t before = count_entered(meeting, waiter->begin_ns);

	return count_entered(meeting, waiter->end_ns) == before + 1 ? meeting->needed[before]
								    : CRIT_NONE;
}

/* Who a member had to wait for, if that is known: one that came after it had left it was not. */
static uint32_t needed_by(const struct crit_meeting *meeting, uint32_t at)
{
	const struct crit_attendance *waiter = &meeting->members[at];
	const bool is_some = meeting->flow == FLOW_SOME;
	const uint32_t last = meeting->needed[is_some ? meeting->count - 1 : at];

	if (last == at || last == CRIT_NONE)
		return CRIT_NONE;
	if ((!is_some && meeting->flow != FLOW_LOOSE) ||
	    meeting->members[last].enter_ns <= waiter->end_ns)
		return last;
	return is_some ? find_only(meeting, waiter) : CRIT_NONE;
}

static void tell(const struct crit_meetings *meetings, const struct crit_meeting *meeting,
		 uint32_t at)
{
	const uint32_t needed_at = needed_by(meeting, at);
	const struct crit_attendance *waiter = &meeting->members[at], *needed;

	if (needed_at == CRIT_NONE) {
		if (meeting->number && meeting->flow == FLOW_ALL)
			tell_meeting(meetings, meeting, waiter);
		return;
	}
	needed = &meeting->members[needed_at];
	crit_listeners_tell_edge(meetings->listeners,
				 &(struct crit_edge){ .begin_ns = waiter->begin_ns,
						      .end_ns = waiter->end_ns,
						      .cause_ns = needed->enter_ns,
						      .object = waiter->communicator,
						      .meeting = meeting->number,
						      .waiter = waiter->waiter,
						      .cause = needed->thread,
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

static uint32_t root_of(const struct crit_meeting *meeting)
{
	uint32_t at = 0;

	while (at < meeting->count && !meeting->members[at].is_root)
		at++;
	return at < meeting->count ? at : CRIT_NONE;
}

static bool is_later(const struct crit_meeting *meeting, uint32_t at, uint32_t than)
{
	return than == CRIT_NONE || meeting->members[at].enter_ns > meeting->members[than].enter_ns;
}

/* The last one but this. */
static uint32_t last_but(const struct crit_meeting *meeting, uint32_t but)
{
	uint32_t last = CRIT_NONE;

	for (uint32_t i = 0; i < meeting->count; i++) {
		if (i != but && is_later(meeting, i, last))
			last = i;
	}
	return last;
}

static int compare_numbers(const void *a, const void *b)
{
	const struct crit_attendance *left = a, *right = b;

	return left->number < right->number ? -1 : left->number > right->number;
}

/* Those of a scan.  Errors: -ENOMEM. */
static int put_by_number(struct crit_meeting *meeting)
{
	int rc = 0;

	qsort(meeting->members, meeting->count, sizeof(*meeting->members), compare_numbers);
	for (uint32_t i = 0; i < meeting->count && meeting->requested.count && !rc; i++) {
		const uint32_t member = meeting->members[i].member;

		if (crit_map_get(&meeting->requested, member) != CRIT_NONE)
			rc = crit_map_set(&meeting->requested, member, i);
	}
	return rc;
}

static int compare_entries(const void *a, const void *b, void *user)
{
	const struct crit_meeting *meeting = user;
	const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	const uint64_t left_ns = meeting->members[left].enter_ns;
	const uint64_t right_ns = meeting->members[right].enter_ns;

	return left_ns == right_ns ? crit_by_number(right, left)
				   : crit_by_number(left_ns, right_ns);
}

/* last: index of who came last of all.  Members of a scan are in order of their numbers. */
static void find_needed(struct crit_meeting *meeting, uint32_t last)
{
	const uint32_t root = root_of(meeting);
	uint32_t before = CRIT_NONE;

	for (uint32_t i = 0; i < meeting->count; i++) {
		uint32_t needed = last;

		if (meeting->flow == FLOW_FROM_ROOT)
			needed = root;
		else if (meeting->flow == FLOW_TO_ROOT)
			needed = i == root ? last_but(meeting, root) : CRIT_NONE;
		else if (meeting->flow == FLOW_PREFIX)
			needed = before;
		meeting->needed[i] = needed == i ? CRIT_NONE : needed;
		if (is_later(meeting, i, before))
			before = i;
	}
}

/* Of FLOW_SOME: who was needed is told by the order in which they entered. */
static void put_in_order(struct crit_meeting *meeting)
{
	for (uint32_t i = 0; i < meeting->count; i++)
		meeting->needed[i] = i;
	qsort_r(meeting->needed, meeting->count, sizeof(*meeting->needed), compare_entries,
		meeting);
}

/* Of a fence, or a file that is opened: whoever left before the last one came needed not all. */
static enum flow flow_seen(const struct crit_meeting *meeting, uint32_t last)
{
	if (meeting->flow != FLOW_TOGETHER)
		return meeting->flow;
	for (uint32_t i = 0; i < meeting->count; i++) {
		if (meeting->members[i].end_ns < meeting->members[last].enter_ns)
			return FLOW_LOOSE;
	}
	return FLOW_ALL;
}

static void tell_arrivals(struct crit_meetings *meetings, struct crit_meeting *meeting,
			  uint32_t last)
{
	if ((meeting->flow != FLOW_ALL && meeting->flow != FLOW_TO_ROOT) ||
	    !crit_listeners_want(meetings->listeners, CRIT_EDGE_ARRIVAL))
		return;
	meeting->number = ++meetings->told;
	for (uint32_t i = 0; i < meeting->count; i++) {
		const struct crit_attendance *member = &meeting->members[i];

		crit_listeners_tell_edge(
			meetings->listeners,
			&(struct crit_edge){
				.place = meeting->flow == FLOW_ALL ? meeting->communicator + 1 : 0,
				.begin_ns = member->enter_ns,
				.end_ns = meeting->members[last].enter_ns,
				.cause_ns = member->enter_ns,
				.object = meeting->number,
				.waiter = member->thread,
				.cause = member->thread,
				.call = member->operation,
				.kind = CRIT_EDGE_ARRIVAL });
	}
}

static int compare_begins(const void *a, const void *b, void *user)
{
	const struct crit_meeting *meeting = user;
	const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	const int order =
		crit_by_number(meeting->members[left].begin_ns, meeting->members[right].begin_ns);

	return order ? order : crit_by_number(left, right);
}

/* The member that began to wait last before a time.  order: of the members, by that.  CRIT_NONE */
static uint32_t last_begun(const struct crit_meeting *meeting, const uint32_t *order,
			   uint64_t time_ns)
{
	size_t low = 0, high = meeting->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (meeting->members[order[middle]].begin_ns < time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? order[low - 1] : CRIT_NONE;
}

/* Indices of the members in the order in which they began to wait. */
static void put_by_begin(const struct crit_meeting *meeting, uint32_t *ret_order)
{
	for (uint32_t i = 0; i < meeting->count; i++)
		ret_order[i] = i;
	qsort_r(ret_order, meeting->count, sizeof(*ret_order), compare_begins, (void *)meeting);
}

/*
 * Of a scan: some libraries have members exchange what they have.  Who left right after one came
 * that it does not need by the data needed that one.  Errors: -ENOMEM.
 */
static int find_exchanged(struct crit_meeting *meeting)
{
	uint32_t *order = calloc(meeting->count, sizeof(*order));

	if (!order)
		return -ENOMEM;
	put_by_begin(meeting, order);
	for (uint32_t i = 0; i < meeting->count; i++) {
		const struct crit_attendance *member = &meeting->members[i];
		const uint32_t at = last_begun(meeting, order, member->end_ns);

		if (at != CRIT_NONE && member->end_ns != UINT64_MAX && at != i &&
		    is_later(meeting, at, meeting->needed[i]) &&
		    crit_help_ends_wait(member->begin_ns, member->end_ns, 0,
					meeting->members[at].enter_ns))
			meeting->needed[i] = at;
	}
	free(order);
	return 0;
}

/* Of requests, which are complete: who waited until another one came back to its own. */
static void tell_helpers(const struct crit_meetings *meetings, const struct crit_meeting *meeting)
{
	uint32_t *order = meeting->needed;

	put_by_begin(meeting, order);
	for (uint32_t i = 0; i < meeting->count; i++) {
		const struct crit_attendance *waiter = &meeting->members[i], *helper;
		const uint32_t at = last_begun(meeting, order, waiter->end_ns);

		if (at == CRIT_NONE)
			continue;
		helper = &meeting->members[at];
		if (at != i && helper->waiter != waiter->waiter &&
		    crit_help_ends_wait(waiter->begin_ns, waiter->end_ns, helper->left_ns,
					helper->begin_ns))
			crit_listeners_tell_edge(
				meetings->listeners,
				&(struct crit_edge){ .begin_ns = waiter->begin_ns,
						     .end_ns = waiter->end_ns,
						     .cause_ns = helper->begin_ns,
						     .object = waiter->communicator,
						     .waiter = waiter->waiter,
						     .cause = helper->waiter,
						     .call = waiter->call,
						     .kind = CRIT_EDGE_COLLECTIVE });
	}
}

/* All that will be is known of a closed meeting. */
static void conclude(struct crit_meetings *meetings, uint32_t at, const struct crit_probe *probe)
{
	const struct crit_meeting *meeting = &meetings->rows[at];

	if (meeting->needed && meeting->requested.count)
		tell_helpers(meetings, meeting);
	end_meeting(meetings, at, probe);
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
	tell(meetings, meeting, i);
	if (!meeting->open)
		conclude(meetings, at, &probe);
}

int crit_meetings_close(struct crit_meetings *meetings, uint32_t communicator, uint32_t sequence,
			uint32_t last)
{
	struct crit_probe probe;
	struct crit_meeting *meeting;
	uint32_t at, last_at;

	if (!meetings->listeners)
		return 0;
	at = find(meetings, communicator, sequence, &probe);
	if (at == CRIT_NONE)
		return 0;
	meeting = &meetings->rows[at];
	if (meeting->flow == FLOW_PREFIX && put_by_number(meeting))
		return -ENOMEM;
	last_at = place_of(meeting, last);
	if (last_at != CRIT_NONE) {
		meeting->needed = calloc(meeting->count, sizeof(*meeting->needed));
		if (!meeting->needed)
			return -ENOMEM;
		meeting->flow = flow_seen(meeting, last_at);
		if (meeting->flow == FLOW_SOME)
			put_in_order(meeting);
		else
			find_needed(meeting, last_at);
		if (meeting->flow == FLOW_PREFIX && find_exchanged(meeting))
			return -ENOMEM;
		tell_arrivals(meetings, meeting, last_at);
	}
	meeting->is_closed = true;
	for (uint32_t i = 0; i < meeting->count && meeting->needed; i++) {
		if (meeting->members[i].end_ns != UINT64_MAX)
			tell(meetings, meeting, i);
	}
	if (!meeting->open || !meeting->needed)
		conclude(meetings, at, &probe);
	return 0;
}
