/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cluster of analysis processes of one run: each replays some of its nodes; all exchange goes
 * through one function that the caller of the analysis supplies, over MPI or otherwise.
 */
#ifndef CRIT_TRANSPORT_H
#define CRIT_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct crit_exchange_buffer {
	unsigned char *bytes;
	size_t size, capacity; /* bytes */
};

struct crit_transport {
	uint32_t rank, count; /* rank 0 has the results */
	size_t round_steps; /* CRIT_ROUNDS_STEPS where it is 0 */
	bool spares_first; /* rank 0 has other work than to replay nodes, if there are others */
	void *user;
	/*
	 * All call it together: to[i] goes to analysis process i, from[i] becomes what analysis
	 * process i had for this one.  Ownership: the caller frees the bytes of both.  Errors:
	 * those of the transport, -ENOMEM.
	 */
	int (*exchange)(void *user, const struct crit_exchange_buffer *to,
			struct crit_exchange_buffer *from);
};

/* Which analysis process replays a node. */
static inline uint32_t crit_transport_owner(const struct crit_transport *transport, uint32_t node)
{
	const uint32_t spared = transport->spares_first && transport->count > 1;

	return spared + node % (transport->count - spared);
}

/*
 * Do all analysis processes see the same, by a number that sums it up, and has none failed before
 * (rc)?  Errors: rc, or that of the first who failed; -ESTALE where they see different things;
 * -ENOMEM, -EPROTO, the transport's.
 */
int crit_transport_agree(const struct crit_transport *transport, uint64_t sum, int rc);

/* Process 0's values to all, who expect as many.  Errors: -ENOMEM, -EPROTO, the transport's. */
int crit_transport_broadcast(const struct crit_transport *transport, uint64_t *values,
			     size_t count);

/* Appends to a buffer; of size 0 nothing.  Errors: -ENOMEM. */
int crit_exchange_buffer_put(struct crit_exchange_buffer *buffer, const void *bytes, size_t size);

/* Takes size bytes from *at on, which moves behind them; false when there are fewer. */
bool crit_exchange_buffer_take(const struct crit_exchange_buffer *buffer, size_t *at,
			       void *ret_bytes, size_t size);

/* One buffer per analysis process, empty.  Errors: NULL when out of memory. */
struct crit_exchange_buffer *crit_exchange_buffers_create(uint32_t count);
void crit_exchange_buffers_empty(struct crit_exchange_buffer *buffers, uint32_t count);
void crit_exchange_buffers_destroy(struct crit_exchange_buffer *buffers, uint32_t count);

#endif
