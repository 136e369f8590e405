/* SPDX-License-Identifier: BSD-3-Clause */
/* A standstill of threads in words: where each waits to its end, and whether that is a deadlock. */
#ifndef CRIT_STALLED_THREADS_H
#define CRIT_STALLED_THREADS_H

#include "report/tables/summary.h"

enum crit_stall {
	CRIT_STALL_NONE = 0, /* there is no standstill */
	CRIT_STALL_OUTSIDE, /* what one waits for may come from outside: input, time, a signal */
	CRIT_STALL_LOCKS, /* likewise, and others wait for locks */
	CRIT_STALL_FUTEXES, /* they wait for each other, unless a timeout or signal is to come */
	CRIT_STALL_DEADLOCK, /* nobody is left who could let one of them go on */
	CRIT_STALL_COUNT
};

/*
 * "for the last 5.678 s (72.3% of the window), until SIGTERM ends them, no thread computes: thread
 * 12 (first) is in pthread_mutex_lock at debit bank.c:11, ...: that is a deadlock"; "" with NONE.
 */
enum crit_stall crit_stalled_threads_say(const struct crit_summary *summary, char *text,
					 size_t text_bytes);

#endif
