/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Latencies of messages between each pair of nodes, by the clocks before correction: of
 * each link the lower convex hull over the time they were sent.  A straight line that is nowhere
 * above its points is above no message (clock_corrections.h).
 *
 * Memory: some ten points per link, CRIT_LATENCIES_MAX of all at most.
 */
#ifndef CRIT_LATENCIES_H
#define CRIT_LATENCIES_H

#include <stdint.h>

#define CRIT_LATENCIES_MAX (1u << 22) /* points */

struct crit_latencies;

/* None so far.  Errors: NULL when out of memory.  destroy accepts NULL. */
struct crit_latencies *crit_latencies_create(void);
void crit_latencies_destroy(struct crit_latencies *latencies);

/* The link between two nodes.  Errors: -ENOMEM. */
int crit_latencies_link(struct crit_latencies *latencies, uint32_t from, uint32_t to,
			uint32_t *ret_link);

/* The link is not to be relied on: several threads sent at one time. */
void crit_latencies_mix(struct crit_latencies *latencies, uint32_t link);

/* A message on it.  Errors: -ENOMEM.  Cost: amortised O(log points). */
int crit_latencies_take(struct crit_latencies *latencies, uint32_t link, uint64_t sent_ns,
			uint64_t received_ns);

#endif
