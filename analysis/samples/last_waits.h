/* SPDX-License-Identifier: BSD-3-Clause */
/* Where threads wait when they end, or the recording does: their last long block or OpenMP wait. */
#ifndef CRIT_LAST_WAITS_H
#define CRIT_LAST_WAITS_H

#include "analysis/account/engine.h"
#include "analysis/schema/block_results.h"

#define CRIT_LAST_WAITS_MAX 32768u /* rows; nobody reads where so many threads stand */
#define CRIT_LAST_BLOCK_PARTS 20 /* what follows it is shorter than one of so many of it */

struct crit_call_paths;

struct crit_last_block { /* of a thread; all 0: none */
	uint64_t since_ns, until_ns;
	struct crit_block_call call;
	uint64_t address; /* 0: where it was is not captured */
	uint32_t request; /* of that stack */
	uint32_t operation;
};

/* A block is over, or the recording: it is the last one, or too short beside the one before. */
static inline void crit_last_block_note(struct crit_last_block *last,
					const struct crit_last_block *block)
{
	const uint64_t parts = (block->until_ns - last->until_ns) * CRIT_LAST_BLOCK_PARTS;

	if (parts >= last->until_ns - last->since_ns)
		*last = *block;
}

struct crit_last_waits { /* zeroed: empty; of threads as the model numbers them */
	struct crit_last_wait *rows;
	size_t count, capacity;
	bool is_beyond; /* there were more than that, and are none now */
};

/*
 * Adds where a thread is now that the replay is over; block: its last one, NULL or all 0: none.
 * Errors: -ENOMEM.
 */
int crit_last_waits_note(struct crit_last_waits *waits, const struct crit_engine *engine,
			 struct crit_call_paths *paths, uint32_t thread,
			 const struct crit_last_block *block);

/* Adds a row of another process.  Errors: -ENOMEM; -EPROTO: it is of no thread of this run. */
int crit_last_waits_add(struct crit_last_waits *waits, const struct crit_model *model,
			const struct crit_last_wait *row);

/* Hands them over to results, by row of threads. */
void crit_last_waits_yield(struct crit_last_waits *waits, const uint32_t *thread_rows,
			   struct crit_results *results);

void crit_last_waits_fini(struct crit_last_waits *waits);

#endif
