/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* What the states of EXEC and WAKE records say of tasks. */
#ifndef CRIT_ABI_TASK_H
#define CRIT_ABI_TASK_H

/* Why the kernel half ends for a task.  A run that root asked for keeps all. */
enum crit_expulsion {
	CRIT_EXPELLED_NOT = 0, /* in a recording: not told */
	CRIT_EXPELLED_USER = 1, /* it runs as another user */
	CRIT_EXPELLED_PRIVILEGES = 2, /* it gained privileges: a group, capabilities */
	CRIT_EXPELLED_UNREADABLE = 3, /* not dumpable, as an execute-only program is */
	CRIT_EXPELLED_COUNT = 4
};

/* Who wakes a thread: state in WAKE. */
enum crit_waker {
	CRIT_WAKER_UNKNOWN = 0, /* not asked, or in vain; of WAKE_NEW it is the creator */
	CRIT_WAKER_MEMBER = 1, /* waker_tid */
	CRIT_WAKER_OUTSIDE = 2, /* a task outside the run */
	CRIT_WAKER_INTERRUPT = 3, /* a timer, a device: not the thread that it found */
	CRIT_WAKER_COUNT = 4
};

#endif
