/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matches sends with receives; a message received before it was sent shows a clock error.
 *
 * MPI keeps messages of one sender, receiver, communicator and tag in order, so the k-th received
 * was at best the k-th sent; the one that is told of first waits for the other.  That is so
 * for sends told of in the order they began; where threads send side by side on one way, nothing
 * is said of it.  Listeners that want to hear of messages are told of each pair.
 */
#ifndef CRIT_MATCH_H
#define CRIT_MATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/account/listeners.h"
#include "analysis/mpi/rendezvous.h"
#include "core/base/index.h"

struct crit_latencies;

#define CRIT_MATCH_MAX                                                                             \
	(1u << 20) /* messages under way, and ways, at a time; more are not looked at */

struct crit_match_way {
	uint32_t from, to; /* members of one communicator */
	int32_t tag;
	uint32_t first, last; /* of those that wait, CRIT_NONE */
	uint32_t link; /* of latencies: CRIT_NONE not known yet */
	bool are_sends;
	bool is_mixed; /* sends are not in order */
	uint64_t last_ns; /* when the last send began */
	uint64_t early_count; /* received before they were sent */
	uint64_t early_max_ns; /* by so much at most */
	uint64_t pair_count; /* told of */
};

struct crit_match_wait {
	uint64_t time_ns;
	uint32_t node;
	uint32_t next; /* or in the list of free ones */
};

struct crit_match_end { /* of a message, as its edges tell it */
	struct crit_message_end stay;
	uint64_t posted; /* of a receive: struct crit_edge's receive_number */
	uint64_t request; /* of a send by one: its number; 0: none */
	uint32_t request_row; /* likewise, for the caller */
	uint32_t thread; /* that sends, or receives */
	bool is_from_any; /* a request for a message of any source */
};

struct crit_match_open { /* of a message whose send by a request is not complete */
	struct crit_message_end receive;
	uint64_t request; /* 0: there is none */
	uint32_t request_row;
};

struct crit_match {
	struct crit_index places; /* of ways */
	struct crit_match_way *ways;
	size_t way_count, way_capacity;
	struct crit_match_wait *waits;
	size_t wait_count, wait_capacity;
	uint32_t free; /* list */
	bool is_full; /* from then on nothing is looked at: what was dropped would pair wrongly */
	struct crit_latencies *latencies; /* NULL: no message between nodes so far */
	struct crit_listeners *listeners; /* NULL: nobody wants edges */
	const struct crit_mpi_returns *returns; /* borrowed: of the threads, for edges */
	struct crit_match_end *ends; /* by waits, where somebody does */
	size_t end_capacity;
};

struct crit_match_message {
	uint32_t from; /* members of the communicator */
	uint32_t to;
	int32_t tag;
	bool is_send;
	uint32_t node; /* whose stamp it is */
	uint64_t time_ns; /* when the send began, or the receive was over */
	uint32_t communicator; /* its number */
	struct crit_match_end end; /* unless nobody wants edges */
};

/* Both are borrowed until fini; listeners: NULL: nobody is told of pairs. */
void crit_match_init(struct crit_match *match, struct crit_listeners *listeners,
		     const struct crit_mpi_returns *returns);
void crit_match_fini(struct crit_match *match);

/*
 * ret_open: of the pair that the message makes.  ret_place: of a message without a partner so far,
 * else CRIT_NONE.  Errors: -ENOMEM; listeners->error is another one.  Cost: O(1).
 */
int crit_match_take(struct crit_match *match, const struct crit_match_message *message,
		    struct crit_match_open *ret_open, uint32_t *ret_place);

/* The request of a send is complete; place: where it was, without a partner, or CRIT_NONE. */
void crit_match_complete(struct crit_match *match, uint32_t place, uint64_t request,
			 const struct crit_message_end *stay);

/* How many were received before they were sent, by *ret_max_ns at most.  Cost: O(ways). */
uint64_t crit_match_early(const struct crit_match *match, uint64_t *ret_max_ns);

#endif
