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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/map.h"

#define CRIT_LATENCIES_MAX (1u << 22) /* points */

struct crit_latency {
	uint64_t sent_ns; /* run clock */
	int64_t took_ns; /* below 0: received before it was sent */
};

struct crit_latency_link {
	uint32_t from, to; /* nodes */
	bool is_mixed; /* not to be relied on: several threads sent at one time */
	struct crit_latency *points; /* of the hull, in order of time */
	size_t count, capacity;
};

struct crit_latencies {
	struct crit_map numbers; /* from << 32 | to -> index into links */
	struct crit_latency_link *links;
	size_t link_count, link_capacity;
	size_t point_count; /* of all; beyond the most, messages are left out */
};

void crit_latencies_fini(struct crit_latencies *latencies);

/* The link between two nodes.  Errors: -ENOMEM. */
int crit_latencies_link(struct crit_latencies *latencies, uint32_t from, uint32_t to,
			uint32_t *ret_link);

/* A message on it.  Errors: -ENOMEM.  Cost: amortised O(log points). */
int crit_latencies_take(struct crit_latencies *latencies, uint32_t link, uint64_t sent_ns,
			uint64_t received_ns);

#endif
