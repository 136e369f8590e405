/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who waits for the end of a thread: in pthread_join and the like, or for a child process.
 *
 * A wait is one for an end where the thread that ends it wakes the waiter as its last act: it dies
 * within 100 ms, or 10 ms where it blocks before.  Besides, the call that the waiter blocks in has
 * to be wait4 or waitid; or a futex that is not private, which the kernel wakes at the end of a
 * thread of the same process; or a private one, as of a lock that a runtime releases there, where
 * the waiter made the thread.  Of that last kind a lock can be which a thread has until it ends.
 * Waits inside OpenMP are none.
 */
#ifndef CRIT_THREAD_ENDS_H
#define CRIT_THREAD_ENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/account/engine.h"

struct crit_thread_ends;

struct crit_thread_end { /* what a thread did last that may have been its end, to whom */
	uint64_t since_ns, until_ns; /* that one waited; 0: it did nothing of the kind */
	uint32_t waiter; /* row */
	uint8_t blocked_for; /* the thread itself, the last time */
	bool is_certain;
	bool has_blocked; /* since it woke somebody */
};

/*
 * Begins to listen to the engine, which is borrowed until destroy and has thread_rows; runs with
 * ranks are not asked: *ret_ends is NULL.  Errors: -ENOMEM, -ENOSPC.  Cost: O(threads) memory.
 */
int crit_thread_ends_create(struct crit_engine *engine, struct crit_thread_ends **ret_ends);
void crit_thread_ends_destroy(struct crit_thread_ends *ends); /* accepts NULL */

/* What is known of the thread of a row; NULL: nothing, or ends is. */
const struct crit_thread_end *crit_thread_ends_at(const struct crit_thread_ends *ends, size_t row);

/* Takes over what another process found out of a thread of its nodes.  Errors: -EPROTO. */
int crit_thread_ends_take(struct crit_thread_ends *ends, size_t row,
			  const struct crit_thread_end *end);

/* Fills results->awaits once the replay is over.  ends: may be NULL.  Errors: -ENOMEM. */
int crit_thread_ends_fill(const struct crit_thread_ends *ends, struct crit_results *results);

#endif
