/* SPDX-License-Identifier: BSD-3-Clause */
/* Collects the edges that a replay tells, and holds them against those of the simulator. */
#ifndef CRIT_TESTS_TOLD_EDGES_H
#define CRIT_TESTS_TOLD_EDGES_H

#include "analysis/account/listeners.h"
#include "analysis/schema/results.h"
#include "tests/maker/maker.h"
#include "tests/sim/edges.h"

/* A listener that adds each edge to a list, threads still by their rows. */
struct crit_listener crit_told_edges_listener(struct sim_edges *edges);

/*
 * Checks that what was told is what there is, once threads are known by their task numbers; sorts
 * both.  number_of: the simulator's number of a communicator; NULL: that of the results.
 */
void crit_told_edges_check(struct sim_edges *told, struct sim_edges *truth,
			   const struct crit_results *results, uint64_t (*number_of)(uint64_t row));

/* Analyses recordings in memory; told by one process, or by several that do it together. */
struct crit_results *crit_told_edges_alone(struct crit_maker *const *makers, size_t count,
					   struct sim_edges *ret_told);
void crit_told_edges_together(struct crit_maker *const *makers, size_t count, uint32_t peers,
			      size_t round_steps, struct sim_edges *ret_told);

#endif
