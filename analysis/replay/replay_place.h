/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a replay of all nodes takes a record: the same number on all processes that replay some. */
#ifndef CRIT_REPLAY_PLACE_H
#define CRIT_REPLAY_PLACE_H

#include <stdbool.h>
#include <stdint.h>

/* Ordered by its members.  Of the end of each thread: CRIT_TIME_MAX, and the thread. */
struct crit_replay_place {
	uint64_t time_ns;
	uint32_t order; /* of the source */
	uint32_t number; /* of planned events */
};

#define CRIT_REPLAY_OVER ((struct crit_replay_place){ UINT64_MAX, UINT32_MAX, UINT32_MAX })

static inline bool crit_replay_is_before(const struct crit_replay_place *one,
					 const struct crit_replay_place *other)
{
	if (one->time_ns != other->time_ns)
		return one->time_ns < other->time_ns;
	return one->order != other->order ? one->order < other->order : one->number < other->number;
}

#endif
