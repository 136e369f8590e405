/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sources of events, and which of them comes next: planned events, the kernel records of each node,
 * and the streams.
 *
 * Streams may be many thousands, and the few others have as many events as all of them, so each of
 * the two has a merge of its own.  All sources have one order, which breaks ties: planned events,
 * then per node its kernel records and its streams.
 */
#ifndef CRIT_TURNS_H
#define CRIT_TURNS_H

#include "analysis/model/model.h"
#include "analysis/replay/merge.h"

#define CRIT_TURN_PLANNED 0u /* in the merge of others */

struct crit_turn_stream { /* what each event needs of the model's row, in one line with others */
	uint32_t thread; /* or CRIT_NONE */
	uint32_t node;
};

struct crit_turns {
	struct crit_merge streams;
	struct crit_merge others;
	struct crit_turn_stream *rows; /* by stream */
	uint32_t *other_orders; /* in the order of all sources */
};

struct crit_turn { /* of a source, next of all */
	uint64_t time_ns;
	uint32_t index; /* stream, or in the merge of others */
	bool is_stream;
};

/* Errors: -ENOMEM. */
int crit_turns_init(struct crit_turns *turns, const struct crit_model *model);
void crit_turns_fini(struct crit_turns *turns);

/* A node's kernel records, in the merge of others. */
static inline uint32_t crit_turn_kernel(uint32_t node)
{
	return CRIT_TURN_PLANNED + 1 + node;
}

static inline uint32_t crit_turn_node(uint32_t other)
{
	return other - CRIT_TURN_PLANNED - 1;
}

static inline uint32_t crit_turn_order(const struct crit_turns *turns, uint32_t index,
				       bool is_stream)
{
	if (!is_stream)
		return turns->other_orders[index];
	/* each node up to its own has kernel records */
	return crit_turn_kernel(turns->rows[index].node) + 1 + index;
}

/* False: all have ended. */
static inline bool crit_turns_next(struct crit_turns *turns, struct crit_turn *ret_turn)
{
	const struct crit_cursor stream = crit_merge_first(&turns->streams);
	const struct crit_cursor other = crit_merge_first(&turns->others);
	bool is_stream = stream.time_ns < other.time_ns;

	if (stream.time_ns == other.time_ns) {
		if (stream.source == CRIT_NONE)
			return false;
		is_stream = crit_turn_order(turns, stream.source, true) <
			    crit_turn_order(turns, other.source, false);
	}
	ret_turn->time_ns = is_stream ? stream.time_ns : other.time_ns;
	ret_turn->index = is_stream ? stream.source : other.source;
	ret_turn->is_stream = is_stream;
	return true;
}

#endif
