// SPDX-License-Identifier: BSD-3-Clause
// Matches the k-th send with the k-th receive, and compares their time stamps.
#include "analysis/mpi/match.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/clock/latencies.h"
#include "analysis/model/model.h"

void crit_match_init(struct crit_match *match, struct crit_listeners *listeners,
		     const struct crit_mpi_returns *returns)
{
	*match = (struct crit_match){ .free = CRIT_NONE, .returns = returns };
	if (listeners && (crit_listeners_want(listeners, CRIT_EDGE_MESSAGE) ||
			  crit_listeners_want(listeners, CRIT_EDGE_RECEIVER) ||
			  crit_listeners_want(listeners, CRIT_EDGE_RENDEZVOUS)))
		match->listeners = listeners;
}

void crit_match_fini(struct crit_match *match)
{
	crit_index_fini(&match->places);
	free(match->ways);
	free(match->waits);
	free(match->ends);
	crit_latencies_destroy(match->latencies);
	crit_match_init(match, NULL, NULL);
}

static uint64_t hash_of(const struct crit_match_message *message)
{
	return crit_hash_mix(crit_hash_mix(message->to, (uint64_t)message->from << 32),
			     (uint32_t)message->tag);
}

/* Errors: -ENOMEM, -ENOSPC when there are too many. */
static int add_way(struct crit_match *match, const struct crit_match_message *message)
{
	int rc;

	if (match->way_count >= CRIT_MATCH_MAX)
		return -ENOSPC;
	rc = crit_array_grow(&match->ways, &match->way_capacity, match->way_count + 1,
			     sizeof(*match->ways));
	if (!rc)
		rc = crit_index_put(&match->places, hash_of(message), (uint32_t)match->way_count);
	if (!rc)
		match->ways[match->way_count++] = (struct crit_match_way){ .from = message->from,
									   .to = message->to,
									   .tag = message->tag,
									   .first = CRIT_NONE,
									   .last = CRIT_NONE,
									   .link = CRIT_NONE };
	return rc;
}

static bool is_way_of(const struct crit_match_way *way, const struct crit_match_message *message)
{
	return way->from == message->from && way->to == message->to && way->tag == message->tag;
}

/* Errors: -ENOMEM, -ENOSPC when there are too many. */
static int find_way(struct crit_match *match, const struct crit_match_message *message,
		    struct crit_match_way **ret_way)
{
	struct crit_probe probe;
	uint32_t way = crit_index_first(&match->places, hash_of(message), &probe);
	int rc = 0;

	while (way != CRIT_NONE && !is_way_of(&match->ways[way], message))
		way = crit_index_next(&match->places, &probe);
	if (way == CRIT_NONE) {
		way = (uint32_t)match->way_count;
		rc = add_way(match, message);
	}
	if (!rc)
		*ret_way = &match->ways[way];
	return rc;
}

/* Keeps what the message's edge will tell of this end.  Errors: -ENOMEM. */
static int keep_end(struct crit_match *match, uint32_t at, const struct crit_match_end *end)
{
	int rc = crit_array_grow(&match->ends, &match->end_capacity, at + 1ull,
				 sizeof(*match->ends));

	if (!rc)
		match->ends[at] = *end;
	return rc;
}

static int wait_for_other(struct crit_match *match, struct crit_match_way *way,
			  const struct crit_match_message *message)
{
	uint32_t at = match->free;
	int rc;

	if (at != CRIT_NONE) {
		match->free = match->waits[at].next;
	} else {
		if (match->wait_count >= CRIT_MATCH_MAX)
			return -ENOSPC;
		rc = crit_array_grow(&match->waits, &match->wait_capacity, match->wait_count + 1,
				     sizeof(*match->waits));
		if (rc)
			return rc;
		at = (uint32_t)match->wait_count++;
	}
	match->waits[at] = (struct crit_match_wait){ message->time_ns, message->node, CRIT_NONE };
	if (way->first == CRIT_NONE)
		way->first = at;
	else
		match->waits[way->last].next = at;
	way->last = at;
	return match->listeners ? keep_end(match, at, &message->end) : 0;
}

/* The one that has waited longest, which no longer does. */
static struct crit_match_wait take_first(struct crit_match *match, struct crit_match_way *way)
{
	uint32_t at = way->first;
	struct crit_match_wait wait = match->waits[at];

	way->first = wait.next;
	match->waits[at].next = match->free;
	match->free = at;
	return wait;
}

/* Sends that are told of late began before others: who of them came first is not known. */
static void look_at_send(struct crit_match *match, struct crit_match_way *way, uint64_t time_ns)
{
	if (time_ns < way->last_ns)
		way->is_mixed = true;
	if (way->is_mixed && way->link != CRIT_NONE)
		crit_latencies_mix(match->latencies, way->link);
	way->last_ns = time_ns;
}

/* Errors: -ENOMEM. */
static int compare(struct crit_match *match, struct crit_match_way *way,
		   const struct crit_match_wait *sent, const struct crit_match_wait *received)
{
	int rc;

	if (way->is_mixed)
		return 0;
	if (received->time_ns < sent->time_ns) {
		uint64_t by_ns = sent->time_ns - received->time_ns;

		way->early_count++;
		if (by_ns > way->early_max_ns)
			way->early_max_ns = by_ns;
	}
	if (sent->node == received->node)
		return 0;
	if (!match->latencies)
		match->latencies = crit_latencies_create();
	if (!match->latencies)
		return -ENOMEM;
	rc = way->link == CRIT_NONE
		     ? crit_latencies_link(match->latencies, sent->node, received->node, &way->link)
		     : 0;
	return rc ? rc
		  : crit_latencies_take(match->latencies, way->link, sent->time_ns,
					received->time_ns);
}

/* The other end of the message is at the place that was taken from the list last. */
static void tell_pair(const struct crit_match *match, struct crit_match_way *way,
		      const struct crit_match_message *message)
{
	const struct crit_match_end *other = &match->ends[match->free];
	const struct crit_match_end *send = message->is_send ? &message->end : other;
	const struct crit_match_end *receive = message->is_send ? other : &message->end;
	uint64_t other_ns = match->waits[match->free].time_ns;

	crit_listeners_tell_edge(
		match->listeners,
		&(struct crit_edge){ .begin_ns = receive->stay.begin_ns,
				     .end_ns = message->is_send ? other_ns : message->time_ns,
				     .cause_ns = message->is_send ? message->time_ns : other_ns,
				     .object = message->communicator,
				     .send_number = way->pair_count++,
				     .receive_number = receive->posted,
				     .waiter = receive->thread,
				     .cause = send->thread,
				     .call = receive->stay.call,
				     .kind = CRIT_EDGE_MESSAGE,
				     .is_from_any = receive->is_from_any });
}

static void tell_both(const struct crit_match *match, struct crit_match_way *way,
		      const struct crit_match_message *message, struct crit_match_open *ret_open)
{
	const struct crit_match_end *other = &match->ends[match->free];
	const struct crit_match_end *send = message->is_send ? &message->end : other;
	const struct crit_match_end *receive = message->is_send ? other : &message->end;

	if (way->is_mixed)
		return;
	tell_pair(match, way, message);
	if (send->stay.end_ns)
		crit_rendezvous_tell(match->listeners, match->returns, message->communicator,
				     &send->stay, &receive->stay);
	else
		*ret_open = (struct crit_match_open){ .receive = receive->stay,
						      .request = send->request,
						      .request_row = send->request_row };
}

int crit_match_take(struct crit_match *match, const struct crit_match_message *message,
		    struct crit_match_open *ret_open, uint32_t *ret_place)
{
	const struct crit_match_wait own = { message->time_ns, message->node, CRIT_NONE };
	struct crit_match_wait other;
	struct crit_match_way *way = NULL;
	int rc = match->is_full ? -ENOSPC : find_way(match, message, &way);

	ret_open->request = 0;
	*ret_place = CRIT_NONE;
	if (!rc && message->is_send)
		look_at_send(match, way, message->time_ns);
	if (!rc && (way->first == CRIT_NONE || way->are_sends == message->is_send)) {
		way->are_sends = message->is_send;
		rc = wait_for_other(match, way, message);
		if (!rc)
			*ret_place = way->last;
	} else if (!rc) {
		other = take_first(match, way);
		if (match->listeners)
			tell_both(match, way, message, ret_open);
		rc = message->is_send ? compare(match, way, &own, &other)
				      : compare(match, way, &other, &own);
	}
	match->is_full |= rc == -ENOSPC;
	return rc == -ENOSPC ? 0 : rc;
}

void crit_match_complete(struct crit_match *match, uint32_t place, uint64_t request,
			 const struct crit_message_end *stay)
{
	/* the place may have gone to another message */
	if (place < match->end_capacity && match->ends[place].request == request)
		match->ends[place].stay = *stay;
}

uint64_t crit_match_early(const struct crit_match *match, uint64_t *ret_max_ns)
{
	uint64_t count = 0;

	*ret_max_ns = 0;
	for (size_t i = 0; i < match->way_count; i++) {
		const struct crit_match_way *way = &match->ways[i];

		if (way->is_mixed)
			continue;
		count += way->early_count;
		if (way->early_max_ns > *ret_max_ns)
			*ret_max_ns = way->early_max_ns;
	}
	return count;
}
