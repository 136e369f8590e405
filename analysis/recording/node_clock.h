/* SPDX-License-Identifier: BSD-3-Clause */
/* The line from the clock of a node to the run's: integer arithmetic, and never backwards. */
#ifndef CRIT_NODE_CLOCK_H
#define CRIT_NODE_CLOCK_H

#include <stdint.h>

#define CRIT_TIME_MAX (1ull << 62) /* later stamps are nonsense and clamped */
#define CRIT_CLOCK_SLOPE_SHIFT 40

#define CRIT_CLOCK_SLOPE_MAX /* 200 ppm: crystals differ by 100; more is noise of two readings */  \
	(200 * (1ll << CRIT_CLOCK_SLOPE_SHIFT) / 1000000)

struct crit_node_clock {
	int64_t offset_ns; /* run clock minus the node's, at at_ns */
	int64_t slope; /* of the offset, 2^-40 per ns */
	uint64_t at_ns; /* by the node's clock: of the first comparison */
	uint64_t passed_ns; /* from there to the last one; 0: there was none */
	uint64_t bound_ns[2]; /* of the first and the last */
};

/* A stamp of a node on the run clock. */
static inline uint64_t crit_node_clock_time(const struct crit_node_clock *clock, uint64_t stamp_ns)
{
	int64_t moved;

	if (stamp_ns >= CRIT_TIME_MAX)
		stamp_ns = CRIT_TIME_MAX - 1;
	moved = (int64_t)stamp_ns + clock->offset_ns;
	if (clock->slope)
		moved += (int64_t)(((__int128)((int64_t)stamp_ns - (int64_t)clock->at_ns) *
				    clock->slope) >>
				   CRIT_CLOCK_SLOPE_SHIFT);
	if (moved < 0)
		return 0;
	return (uint64_t)moved < CRIT_TIME_MAX ? (uint64_t)moved : CRIT_TIME_MAX - 1;
}

#endif
