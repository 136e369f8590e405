/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which messages were received before they were sent: clocks that are further apart than thought.
 *
 * MPI keeps messages of one sender, receiver, communicator and tag in order, so the k-th received
 * was at best the k-th sent; whoever of the two is told of first waits for the other.  That is so
 * for sends told of in the order they began; where threads send side by side on one way, nothing
 * is said of it.  Listeners that want to hear of messages are told of each pair.
 */
#ifndef CRIT_ORDER_H
#define CRIT_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/account/listeners.h"
#include "analysis/clock/transits.h"
#include "core/base/map.h"

#define CRIT_ORDER_MAX                                                                             \
	(1u << 20) /* messages under way, and ways, at a time; more are not looked at */

struct crit_order_way { /* of one sender, receiver, communicator and tag */
	uint32_t first, last; /* of those that wait, CRIT_NONE */
	uint32_t link; /* of transits: CRIT_NONE not known yet */
	bool are_sends;
	bool is_mixed; /* sends are not in order */
	uint64_t last_ns; /* when the last send began */
	uint64_t early_count; /* received before they were sent */
	uint64_t early_max_ns; /* by so much at most */
	uint64_t pair_count; /* told of */
};

struct crit_order_wait {
	uint64_t time_ns;
	uint32_t node;
	uint32_t next; /* or in the list of free ones */
};

struct crit_order_end { /* of a message, as its edge tells it */
	uint64_t begin_ns; /* of the call the message is sent or received in */
	uint64_t posted; /* of a receive: struct crit_edge's receive_number */
	uint32_t life;
	uint16_t call;
};

struct crit_order {
	struct crit_map pairs; /* members, from << 32 | to -> running number */
	struct crit_map places; /* pair << 32 | tag -> index into ways */
	struct crit_order_way *ways;
	size_t way_count, way_capacity;
	struct crit_order_wait *waits;
	size_t wait_count, wait_capacity;
	uint32_t free; /* list */
	bool is_full; /* from then on nothing is looked at: what was dropped would pair wrongly */
	struct crit_transits transits;
	struct crit_listeners *listeners; /* NULL: nobody wants edges */
	struct crit_order_end *ends; /* by waits, where somebody does */
	size_t end_capacity;
};

struct crit_order_message {
	uint32_t from; /* members of the communicator */
	uint32_t to;
	int32_t tag;
	bool is_send;
	uint32_t node; /* whose stamp it is */
	uint64_t time_ns; /* when the send began, or the receive was over */
	uint32_t communicator; /* its number */
	struct crit_order_end end; /* unless nobody wants edges */
};

/* listeners: borrowed until fini; NULL: nobody is told of pairs. */
void crit_order_init(struct crit_order *order, struct crit_listeners *listeners);
void crit_order_fini(struct crit_order *order);

/* Errors: -ENOMEM; listeners->error is another one.  Cost: O(1). */
int crit_order_take(struct crit_order *order, const struct crit_order_message *message);

/* How many were received before they were sent, by *ret_max_ns at most.  Cost: O(ways). */
uint64_t crit_order_early(const struct crit_order *order, uint64_t *ret_max_ns);

#endif
