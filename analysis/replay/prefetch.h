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
#include "analysis/replay/merge.h"

#define CRIT_PREFETCH_LEAST 256u /* sources; of fewer all is in caches */

struct crit_source { /* of events, in the merge */
	enum {
		CRIT_SOURCE_PLANNED,
		CRIT_SOURCE_KERNEL,
		CRIT_SOURCE_STREAM
	} kind;
	uint32_t index; /* node or stream */
	uint32_t thread; /* of a stream, or CRIT_NONE */
	uint32_t node;
};

#define CRIT_PREFETCH_AHEAD 8u /* events from the first step to the last: a power of two */

struct crit_prefetch { /* all borrowed */
	const struct crit_merge *merge;
	const struct crit_source *sources; /* by order */
	const struct crit_engine *engine;
	const struct crit_shim_feed *shims; /* by stream */
	const struct crit_source *asked[CRIT_PREFETCH_AHEAD]; /* NULL: none */
	uint32_t at; /* in that ring */
};

/* An event of a source was replayed.  Range: CRIT_PREFETCH_LEAST sources at least. */
void crit_prefetch_after(struct crit_prefetch *prefetch, uint32_t order);

#endif
