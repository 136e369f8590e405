/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time in which threads are blocked, by what they are in and by the system call they block in.
 *
 * A cell is a thread, its region, call and class, and the system call with what its first argument
 * says.  Each nanosecond that an app thread is blocked in the window is in one cell, that in which
 * the thread was when it left its CPU; but what comes before the first call that is told of a
 * thread, as from its birth on, is in one sum for all.
 *
 * Of some blocks the way there was captured, each with a probability p that its record says.  A
 * cell is divided among its paths by the sums of duration / p, so that the sums over paths are the
 * cell's to the nanosecond; that of a cell without any is not captured.
 */
#ifndef CRIT_BLOCKS_H
#define CRIT_BLOCKS_H

#include "analysis/account/engine.h"
#include "analysis/samples/last_waits.h"

#define CRIT_BLOCKS_ROW_BYTES 64u

struct crit_blocks;
struct crit_call_paths;

/*
 * Begins to listen to the engine, which is borrowed until destroy, as are the paths; NULL: there
 * are none.  Errors: -ENOMEM, -ENOSPC.
 */
int crit_blocks_create(struct crit_engine *engine, struct crit_call_paths *paths,
		       struct crit_blocks **ret_blocks);
void crit_blocks_destroy(struct crit_blocks *blocks); /* accepts NULL */

/* What was counted so far, in rows; borrowed until the next event.  Yields how many. */
size_t crit_blocks_rows(const struct crit_blocks *blocks, const void **ret_rows);

/*
 * Adds a row of another process.  Range: any bytes, aligned as a uint64_t.  Errors: -ENOMEM;
 * -EPROTO: it is none of this run.
 */
int crit_blocks_add_row(struct crit_blocks *blocks, const void *row);

/*
 * Where the threads that this process replayed wait at their end, once the replay is over; what
 * others know can be added, and crit_blocks_fill hands it over.  Ownership: borrowed.
 * Errors: -ENOMEM.
 */
int crit_blocks_find_last(struct crit_blocks *blocks, struct crit_last_waits **ret_waits);

/*
 * Fills results->blocks and last_waits once the replay is over; thread_rows: of threads, there.
 * Errors: -ENOMEM.
 */
int crit_blocks_fill(struct crit_blocks *blocks, const uint32_t *thread_rows,
		     struct crit_results *results);

#endif
