// SPDX-License-Identifier: BSD-3-Clause
/* Says whether the shares depend on how MPI_Send is counted. */
#include "report/findings/may_wait.h"

#include <math.h>
#include <stdio.h>

#include "report/tables/labels.h"

#define SHARE_MOVED 0.05

static double rank_sum(const struct crit_results *results)
{
	double sum_s = 0;

	for (size_t i = 0; i < results->rank_count; i++)
		sum_s += crit_fix_seconds(results->ranks[i].run.cmetric[CRIT_UNIT_RANKS]);
	return sum_s;
}

/* Would counting mpi_may_wait (Send) as active change the top rank or a share by more than 0.05? */
void crit_may_wait_find(struct crit_summary *summary, const struct crit_results *other)
{
	const struct crit_results *mine = summary->results;
	double mine_s = rank_sum(mine);
	double other_s = rank_sum(other);
	double worst = 0;
	size_t worst_row = 0;
	size_t top = 0;

	if (other->rank_count != mine->rank_count || mine->rank_count == 0 || mine_s <= 0 ||
	    other_s <= 0)
		return;
	for (size_t i = 0; i < mine->rank_count; i++) {
		crit_fix value = other->ranks[i].run.cmetric[CRIT_UNIT_RANKS];
		double moved =
			crit_fix_seconds(value) / other_s -
			crit_fix_seconds(mine->ranks[i].run.cmetric[CRIT_UNIT_RANKS]) / mine_s;

		if (fabs(moved) > fabs(worst)) {
			worst = moved;
			worst_row = i;
		}
		if (value > other->ranks[top].run.cmetric[CRIT_UNIT_RANKS])
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
