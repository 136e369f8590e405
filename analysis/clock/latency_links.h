/* SPDX-License-Identifier: BSD-3-Clause */
/* The convex hulls of latencies.h, for who moves clocks by them. */
#ifndef CRIT_LATENCY_LINKS_H
#define CRIT_LATENCY_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/map.h"

struct crit_latency {
	uint64_t sent_ns; /* run clock */
	int64_t took_ns; /* below 0: received before it was sent */
};

struct crit_latency_link {
	uint32_t from, to; /* nodes */
	bool is_mixed; /* not to be relied on */
	struct crit_latency *points; /* of the hull, in order of time */
	size_t count, capacity;
};

struct crit_latencies {
	struct crit_map numbers; /* from << 32 | to -> index into links */
	struct crit_latency_link *links;
	size_t link_count, link_capacity;
	size_t point_count; /* of all; beyond the most, messages are left out */
};

#endif
