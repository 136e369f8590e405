// SPDX-License-Identifier: BSD-3-Clause
// Pairs sends with receives, and compares their stamps.
#include "analysis/mpi/order.h"

#include <errno.h>
#include <stdlib.h>

#include "analysis/model/model.h"

void crit_order_init(struct crit_order *order, struct crit_listeners *listeners)
{
	*order = (struct crit_order){ .free = CRIT_NONE };
	if (listeners && crit_listeners_want(listeners, CRIT_EDGE_MESSAGE))
		order->listeners = listeners;
}

void crit_order_fini(struct crit_order *order)
{
	crit_map_fini(&order->pairs);
	crit_map_fini(&order->places);
	free(order->ways);
	free(order->waits);
	free(order->ends);
	crit_transits_fini(&order->transits);
	crit_order_init(order, NULL);
}

/* The number of key in map, a new one if it has none.  Errors: -ENOMEM. */
static int number_of(struct crit_map *map, uint64_t key, uint32_t *ret_number)
{
	*ret_number = crit_map_get(map, key);
	if (*ret_number != CRIT_NONE)
		return 0;
	*ret_number = (uint32_t)map->count;
	return crit_map_set(map, key, *ret_number);
}

/* Errors: -ENOMEM, -ENOSPC when there are too many. */
static int find_way(struct crit_order *order, const struct crit_order_message *message,
		    struct crit_order_way **ret_way)
{
	uint32_t pair, way;
	int rc;

	if (order->places.count >= CRIT_ORDER_MAX || order->pairs.count >= CRIT_ORDER_MAX)
		return -ENOSPC;
	rc = number_of(&order->pairs, (uint64_t)message->from << 32 | message->to, &pair);
	if (!rc)
		rc = number_of(&order->places, (uint64_t)pair << 32 | (uint32_t)message->tag, &way);
	if (!rc)
		rc = crit_array_grow(&order->ways, &order->way_capacity, (size_t)way + 1,
				     sizeof(*order->ways));
	if (rc)
		return rc;
	if (way == order->way_count)
		order->ways[order->way_count++] = (struct crit_order_way){ .first = CRIT_NONE,
									   .last = CRIT_NONE,
									   .link = CRIT_NONE };
	*ret_way = &order->ways[way];
	return 0;
}

/* Keeps what the message's edge will tell of this end.  Errors: -ENOMEM. */
static int keep_end(struct crit_order *order, uint32_t at, const struct crit_order_end *end)
{
	int rc = crit_array_grow(&order->ends, &order->end_capacity, at + 1ull,
				 sizeof(*order->ends));

	if (!rc)
		order->ends[at] = *end;
	return rc;
}

static int wait_for_other(struct crit_order *order, struct crit_order_way *way,
			  const struct crit_order_message *message)
{
	uint32_t at = order->free;
	int rc;

	if (at != CRIT_NONE) {
		order->free = order->waits[at].next;
	} else {
		if (order->wait_count >= CRIT_ORDER_MAX)
			return -ENOSPC;
		rc = crit_array_grow(&order->waits, &order->wait_capacity, order->wait_count + 1,
				     sizeof(*order->waits));
		if (rc)
			return rc;
		at = (uint32_t)order->wait_count++;
	}
	order->waits[at] = (struct crit_order_wait){ message->time_ns, message->node, CRIT_NONE };
	if (way->first == CRIT_NONE)
		way->first = at;
	else
		order->waits[way->last].next = at;
	way->last = at;
	return order->listeners ? keep_end(order, at, &message->end) : 0;
}

/* The one that has waited longest, which no longer does. */
static struct crit_order_wait take_first(struct crit_order *order, struct crit_order_way *way)
{
	uint32_t at = way->first;
	struct crit_order_wait wait = order->waits[at];

	way->first = wait.next;
	order->waits[at].next = order->free;
	order->free = at;
	return wait;
}

/* Sends that are told of late began before others: who of them came first is not known. */
static void look_at_send(struct crit_order *order, struct crit_order_way *way, uint64_t time_ns)
{
	if (time_ns < way->last_ns)
		way->is_mixed = true;
	if (way->is_mixed && way->link != CRIT_NONE)
		order->transits.links[way->link].is_mixed = true;
	way->last_ns = time_ns;
}

/* Errors: -ENOMEM. */
static int compare(struct crit_order *order, struct crit_order_way *way,
		   const struct crit_order_wait *sent, const struct crit_order_wait *received)
{
	int rc = 0;

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
	if (way->link == CRIT_NONE)
		rc = crit_transits_link(&order->transits, sent->node, received->node, &way->link);
	return rc ? rc
		  : crit_transits_take(&order->transits, way->link, sent->time_ns,
				       received->time_ns);
}

/* The other end of the message is at the place that was taken from the list last. */
static void tell_pair(const struct crit_order *order, struct crit_order_way *way,
		      const struct crit_order_message *message)
{
	const struct crit_order_end *other = &order->ends[order->free];
	const struct crit_order_end *send = message->is_send ? &message->end : other;
	const struct crit_order_end *receive = message->is_send ? other : &message->end;
	uint64_t other_ns = order->waits[order->free].time_ns;

	if (way->is_mixed)
		return;
	crit_listeners_tell_edge(
		order->listeners,
		&(struct crit_edge){ .begin_ns = receive->begin_ns,
				     .end_ns = message->is_send ? other_ns : message->time_ns,
				     .cause_ns = message->is_send ? message->time_ns : other_ns,
				     .object = message->communicator,
				     .send_number = way->pair_count++,
				     .receive_number = receive->posted,
				     .waiter = receive->life,
				     .cause = send->life,
				     .call = receive->call,
				     .kind = CRIT_EDGE_MESSAGE });
}

int crit_order_take(struct crit_order *order, const struct crit_order_message *message)
{
	const struct crit_order_wait own = { message->time_ns, message->node, CRIT_NONE };
	struct crit_order_wait other;
	struct crit_order_way *way = NULL;
	int rc = order->is_full ? -ENOSPC : find_way(order, message, &way);

	if (!rc && message->is_send)
		look_at_send(order, way, message->time_ns);
	if (!rc && (way->first == CRIT_NONE || way->are_sends == message->is_send)) {
		way->are_sends = message->is_send;
		rc = wait_for_other(order, way, message);
	} else if (!rc) {
		other = take_first(order, way);
		if (order->listeners)
			tell_pair(order, way, message);
		rc = message->is_send ? compare(order, way, &own, &other)
				      : compare(order, way, &other, &own);
	}
	order->is_full |= rc == -ENOSPC;
	return rc == -ENOSPC ? 0 : rc;
}

uint64_t crit_order_early(const struct crit_order *order, uint64_t *ret_max_ns)
{
	uint64_t count = 0;
	size_t i;

	*ret_max_ns = 0;
	for (i = 0; i < order->way_count; i++) {
		const struct crit_order_way *way = &order->ways[i];

		if (way->is_mixed)
			continue;
		count += way->early_count;
		if (way->early_max_ns > *ret_max_ns)
			*ret_max_ns = way->early_max_ns;
	}
	return count;
}
