// SPDX-License-Identifier: BSD-3-Clause
// Says whether the shares depend on how MPI_Send is counted.
#include "report/findings/send_doubt.h"

#include <math.h>
#include <stdio.h>

#include "analysis/table/efficiency.h"
#include "report/tables/labels.h"

#define SHARE_MOVED 0.05

/* Time enough in mpi_may_wait that counting it as active could move a share by SHARE_MOVED? */
static bool can_matter(const struct crit_results *results)
{
	uint64_t may_wait_ns = 0;

	if (results->rule != CRIT_ACTIVE_DEFAULT)
		return false;
	for (size_t i = 0; i < results->rank_count; i++) {
		struct crit_usage usage;

		crit_usage_of(&results->ranks[i].cells, &usage);
		may_wait_ns += usage.mpi_may_wait_ns;
	}
	return may_wait_ns > results->window_ns / 100;
}

/* Would counting mpi_may_wait (Send) as active change the top rank or a share by more than 0.05? */
void crit_send_doubt_find(struct crit_summary *summary)
{
	const struct crit_results *mine = summary->results;
	double mine_s = 0;
	double other_s = 0;
	double worst = 0;
	size_t worst_row = 0;
	size_t top = 0;

	for (size_t i = 0; i < mine->rank_count; i++) {
		mine_s += crit_fix_seconds(mine->ranks[i].run.cmetric[CRIT_UNIT_RANKS]);
		other_s += crit_fix_seconds(mine->ranks[i].may_wait_cmetric);
	}
	if (mine_s <= 0 || other_s <= 0 || !can_matter(mine))
		return;
	for (size_t i = 0; i < mine->rank_count; i++) {
		crit_fix value = mine->ranks[i].may_wait_cmetric;
		double moved =
			crit_fix_seconds(value) / other_s -
			crit_fix_seconds(mine->ranks[i].run.cmetric[CRIT_UNIT_RANKS]) / mine_s;

		if (fabs(moved) > fabs(worst)) {
			worst = moved;
			worst_row = i;
		}
		if (value > mine->ranks[top].may_wait_cmetric)
			top = i;
	}
	if (fabs(worst) > SHARE_MOVED || (top != summary->rank_order[0] && fabs(worst) > 0.001)) {
		char moved_name[32];
		char top_name[32];

		(void)snprintf(summary->may_wait_note, sizeof(summary->may_wait_note),
			       "This depends on MPI_Send, which may wait or work: counted as "
			       "active, the share "
			       "of rank %s moves by %+.1f points and rank %s comes first.",
			       crit_rank_label(mine, (int32_t)worst_row, moved_name,
					       sizeof(moved_name)),
			       100 * worst,
			       crit_rank_label(mine, (int32_t)top, top_name, sizeof(top_name)));
	}
}
