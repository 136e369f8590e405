/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the clock of each node to the run's.
 *
 * The run's clock is that of the reference node, which the CLOCK chunks name; without any it is
 * that of node 0.  Between a node's first and last comparison its clock is taken to run straight;
 * integer arithmetic, and never backwards.
 */
#ifndef CRIT_CLOCKS_H
#define CRIT_CLOCKS_H

#include <stdint.h>

struct crit_model;

#define CRIT_CLOCK_SLOPE_SHIFT 40

enum crit_clock_kind { /* how a node's clock is known */
	CRIT_CLOCK_NONE = 0,
	CRIT_CLOCK_REFERENCE, /* it is the run's */
	CRIT_CLOCK_COMPARED, /* at both ends of the run */
	CRIT_CLOCK_COMPARED_ONCE,
	CRIT_CLOCK_SAME, /* the same boot as a node whose clock is known */
	CRIT_CLOCK_WALL, /* by the nodes' wall clocks */
	CRIT_CLOCK_KIND_COUNT
};

#define CRIT_CLOCK_UNBOUND UINT64_MAX

#define CRIT_CLOCK_SLOPE_MAX /* 200 ppm: crystals differ by 100; more is noise of two readings */  \
	(200 * (1ll << CRIT_CLOCK_SLOPE_SHIFT) / 1000000)

struct crit_node_clock {
	int64_t offset_ns; /* run clock minus the node's, at at_ns */
	int64_t slope; /* of the offset, 2^-40 per ns */
	uint64_t at_ns; /* by the node's clock: of the first comparison */
	uint64_t passed_ns; /* from there to the last one; 0: there was none */
	uint64_t bound_ns[2]; /* of the first and the last */
};

struct crit_clock_shifts;

/* Fills the clocks of all nodes, and what rows say about them.  Cost: O(chunks). */
void crit_clocks_set(struct crit_model *model, const struct crit_clock_shifts *shifts);

#endif
