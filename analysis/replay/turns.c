// SPDX-License-Identifier: BSD-3-Clause
// Orders of all sources of events.
#include "analysis/replay/turns.h"

#include <errno.h>
#include <stdlib.h>

int crit_turns_init(struct crit_turns *turns, const struct crit_model *model)
{
	const uint32_t other_count = crit_turn_kernel((uint32_t)model->node_count);
	uint32_t order = 0, stream = 0;
	int rc;

	*turns = (struct crit_turns){ 0 };
	turns->rows = calloc(model->stream_count + 1, sizeof(*turns->rows));
	turns->other_orders = calloc(other_count, sizeof(*turns->other_orders));
	if (!turns->rows || !turns->other_orders)
		return -ENOMEM;
	turns->other_orders[CRIT_TURN_PLANNED] = order++;
	for (uint32_t node = 0; node < model->node_count; node++) {
		turns->other_orders[crit_turn_kernel(node)] = order++;
		for (; stream < model->stream_count && model->streams[stream].node == node;
		     stream++, order++)
			turns->rows[stream] =
				(struct crit_turn_stream){ model->streams[stream].thread, node };
	}
	rc = crit_merge_init(&turns->streams, (uint32_t)model->stream_count);
	return rc ? rc : crit_merge_init(&turns->others, other_count);
}

void crit_turns_fini(struct crit_turns *turns)
{
	crit_merge_fini(&turns->streams);
	crit_merge_fini(&turns->others);
	free(turns->rows);
	free(turns->other_orders);
}
