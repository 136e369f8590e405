/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* Why the kernel half ends for a task. */
#ifndef CRIT_ABI_TASK_H
#define CRIT_ABI_TASK_H

/* State of EXEC.  A run that root asked for keeps all. */
enum crit_expulsion {
	CRIT_EXPELLED_NOT = 0, /* in a recording: not told */
	CRIT_EXPELLED_USER = 1, /* it runs as another user */
	CRIT_EXPELLED_PRIVILEGES = 2, /* it gained privileges: a group, capabilities */
	CRIT_EXPELLED_UNREADABLE = 3, /* not dumpable, as an execute-only program is */
	CRIT_EXPELLED_COUNT = 4
};

#endif
