/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over the ranks and threads of each node. */
#ifndef CRIT_NODE_SUMS_H
#define CRIT_NODE_SUMS_H

#include "report/tables/region_table.h"

struct crit_node_sum {
	uint32_t ranks;
	uint32_t app_threads;
	struct crit_cells cells; /* of its app threads */
	struct crit_attribution
		run; /* over all nodes they add up to what all ranks earn, exactly */
	struct crit_imbalance useful; /* of its ranks; of its app threads in a run without ranks */
};

/*
 * One per node of the results, in their order.  Ownership: the caller frees *ret_sums.
 * Errors: -ENOMEM.  Cost: O(nodes + ranks + threads).
 */
int crit_node_sums_of(const struct crit_results *results, struct crit_node_sum **ret_sums);

#endif
