/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fetches into the caches what events that come soon will need.
 *
 * Of thousands of ranks no cache holds the accounts, and each event is of another rank than the one
 * before.  In three steps, since what a step asks for tells where the next one finds more; some
 * events lie between them, in which it comes.
 */
#ifndef CRIT_PREFETCH_H
#define CRIT_PREFETCH_H

#include "analysis/account/engine.h"
#include "analysis/recording/shim_feed.h"
#include "analysis/replay/turns.h"

#define CRIT_PREFETCH_LEAST 256u /* streams; of fewer all is in caches */

#define CRIT_PREFETCH_AHEAD 8u /* events from the first step to the last: a power of two */

struct crit_prefetch { /* all borrowed */
	const struct crit_turns *turns;
	const struct crit_shim_feed *shims; /* by stream */
	const struct crit_engine *engine;
	uint32_t stream_count;
	const struct crit_turn_stream *asked[CRIT_PREFETCH_AHEAD]; /* NULL: none */
	uint32_t at; /* in that ring */
};

/* An event of a stream was replayed. */
void crit_prefetch_after(struct crit_prefetch *prefetch, uint32_t stream);

#endif
