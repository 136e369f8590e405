/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Corrections of node clocks from the latencies of messages.
 *
 * Comparisons of clocks leave the line of each node's offset anywhere within its bounds, and a
 * message may be faster than that.  But no message is received before it was sent, so each is a
 * comparison one way: at the time it was sent, its sender's line may rise against its receiver's by
 * no more than it took.  These are linear constraints on where the lines begin and end, and so are
 * their bounds and how steep a clock's line can be.  Of all movements that meet them the one of
 * least squares is looked for, each constraint in turn moving the lines as little as it takes, and
 * back where others have made it needless (Hildreth 1957, Dykstra 1983).
 */
#ifndef CRIT_CLOCK_CORRECTIONS_H
#define CRIT_CLOCK_CORRECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct crit_model;
struct crit_latencies;

struct crit_clock_correction {
	int64_t by_ns[2]; /* added to a node's offset when it was first and last compared */
};

struct crit_clock_corrections;

/* None, and nothing is known.  Errors: NULL when out of memory.  destroy accepts NULL. */
struct crit_clock_corrections *crit_clock_corrections_create(void);
void crit_clock_corrections_destroy(struct crit_clock_corrections *corrections);

/* Were the messages of these recordings looked at, or need not be? */
bool crit_clock_corrections_are_known(const struct crit_clock_corrections *corrections);
void crit_clock_corrections_set_known(struct crit_clock_corrections *corrections, bool are_known);

/* Of how many nodes: all of the recordings, in their order, or 0: no clock is to be moved. */
size_t crit_clock_corrections_count(const struct crit_clock_corrections *corrections);
const struct crit_clock_correction *
crit_clock_corrections_at(const struct crit_clock_corrections *corrections, size_t node);

/*
 * All of them as numbers, for another process: room for those of count nodes, where there were
 * none.  Errors: NULL when out of memory.
 */
uint64_t *crit_clock_corrections_numbers(struct crit_clock_corrections *corrections, size_t count,
					 size_t *ret_number_count);

/* Has a node of an indexed model a bound it could be moved in? */
bool crit_clock_corrections_can_be(const struct crit_model *model);

/*
 * Once all messages of a model whose clocks were not moved were taken, and some are out of order:
 * how far to move them so that none is.  Nowhere if no movement within the bounds was found.
 * latencies: NULL where no message was between nodes.
 * Errors: -ENOMEM.  Cost: O(pairs of nodes) per sweep, with a bound on the sum.
 */
int crit_clock_corrections_find(struct crit_clock_corrections *corrections,
				const struct crit_model *model,
				const struct crit_latencies *latencies);

/* Moves the clocks of a model as they were compared. */
void crit_clock_corrections_apply(const struct crit_clock_corrections *corrections,
				  struct crit_model *model);

#endif
