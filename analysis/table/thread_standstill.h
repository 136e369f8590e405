/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A standstill of a run without ranks: towards its end no thread runs any more, until a signal
 * kills them or the recording ends.
 *
 * It begins when the last of the threads begins the wait that it does not leave, and when the last
 * one of those that are gone by then ends.  Threads that run now and then meanwhile, as one that
 * reports every second, do not keep the others from standing still, if all they ever ran is less
 * than 2 % of the standstill.  A program that goes on and ends by itself has none.
 */
#ifndef CRIT_THREAD_STANDSTILL_H
#define CRIT_THREAD_STANDSTILL_H

#include "analysis/schema/results.h"

struct crit_thread_standstill {
	double s; /* 0: there is none */
	uint64_t since_ns, until_ns; /* absolute run-clock ns */
	size_t waiter_count; /* threads that wait all the time */
	size_t ticker_count; /* threads that run now and then */
	double ticker_s; /* so much at most */
	uint8_t exit_signal; /* that killed them; 0: the recording ended before */
};

/* Does the thread of that row wait all the time?  NULL: it does not, or runs now and then. */
const struct crit_last_wait *crit_thread_standstill_wait(const struct crit_thread_standstill *still,
							 const struct crit_results *results,
							 size_t thread_row);

/*
 * silent_ns: in which no thread is active.  Runs with ranks have none.  Errors: -ENOMEM.
 * Cost: O(threads log threads).
 */
int crit_thread_standstill_find(const struct crit_results *results, uint64_t silent_ns,
				struct crit_thread_standstill *ret_still);

#endif
