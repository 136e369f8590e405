// SPDX-License-Identifier: BSD-3-Clause
// Counts the edges of each kind.
#include "tests/edges/edge_counts.h"

static int count(void *user, const struct crit_event *event)
{
	struct crit_edge_counts *counts = user;

	counts->by_kind[event->edge->kind]++;
	return 0;
}

struct crit_listener crit_edge_counts_listener(struct crit_edge_counts *counts)
{
	struct crit_listener listener = { .user = counts };

	for (int kind = CRIT_EDGE_NONE + 1; kind < CRIT_EDGE_PAIR_COUNT; kind++)
		listener.on[CRIT_EVENT_EDGE + kind] = count;
	return listener;
}

const char *crit_edge_kind_name(enum crit_edge_kind kind)
{
	static const char *const names[CRIT_EDGE_PAIR_COUNT] = {
		[CRIT_EDGE_NONE] = "none",         [CRIT_EDGE_MESSAGE] = "message",
		[CRIT_EDGE_RECEIVER] = "receiver", [CRIT_EDGE_COLLECTIVE] = "collective",
		[CRIT_EDGE_BARRIER] = "barrier",   [CRIT_EDGE_LOCK] = "lock",
		[CRIT_EDGE_WAKEUP] = "wakeup",     [CRIT_EDGE_TASK] = "task",
	};

	return names[kind];
}
