/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Maps the clock of each node to the clock of the run.
 *
 * The run's clock is that of the reference node, which the CLOCK chunks name; without any it is
 * that of node 0.  Between a node's first and last comparison its clock is taken to run straight;
 * integer arithmetic, and never backwards.
 */
#ifndef CRIT_CLOCKS_H
#define CRIT_CLOCKS_H

#include "analysis/model/model.h"

struct crit_clock_corrections;

/* Fills the clocks of all nodes, and what rows say about them.  Cost: O(chunks). */
void crit_clocks_set(struct crit_model *model, const struct crit_clock_corrections *corrections);

#endif
