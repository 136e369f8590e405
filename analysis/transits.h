/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The least time messages took from each node to each other one, by the clocks as they are known,
 * in sections of the run: what they say of these clocks (clock_shifts.h).
 *
 * Memory: CRIT_TRANSIT_CELLS times at most.  With more pairs of nodes there are fewer sections.
 */
#ifndef CRIT_TRANSITS_H
#define CRIT_TRANSITS_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/map.h"

#define CRIT_TRANSIT_SECTIONS 512u
#define CRIT_TRANSIT_CELLS (1u << 21)
#define CRIT_TRANSIT_NONE INT64_MAX

struct crit_transit_link {
	uint32_t from, to; /* nodes */
};

struct crit_transits {
	uint64_t begin_ns, section_ns; /* run clock */
	uint32_t sections;
	struct crit_map numbers; /* from << 32 | to -> index into links */
	struct crit_transit_link *links;
	size_t link_count, link_capacity;
	int64_t *least_ns; /* by link and section, CRIT_TRANSIT_NONE */
	size_t least_capacity;
};

/* Of a window's messages. */
void crit_transits_init(struct crit_transits *transits, uint64_t begin_ns, uint64_t end_ns);
void crit_transits_fini(struct crit_transits *transits);

/* The link between two nodes.  Errors: -ENOMEM, -ENOSPC when there are too many. */
int crit_transits_link(struct crit_transits *transits, uint32_t from, uint32_t to,
		       uint32_t *ret_link);

/* A message on it.  Cost: O(1). */
void crit_transits_take(struct crit_transits *transits, uint32_t link, uint64_t sent_ns,
			uint64_t received_ns);

/* The least in the sections that meet at begin_ns + number * section_ns, or CRIT_TRANSIT_NONE. */
int64_t crit_transits_least(const struct crit_transits *transits, size_t link, uint32_t number);

#endif
