/* SPDX-License-Identifier: BSD-3-Clause */
/* The lock that a finisher holds on a run's directory while it writes report and archive. */
#ifndef CRIT_FINISH_LOCK_H
#define CRIT_FINISH_LOCK_H

#define CRIT_LOCK_NAME ".finish.lock"

/*
 * Takes the finisher's lock; the descriptor holds it.
 * Errors: -EWOULDBLOCK: another one still held it after that time; -errno.
 */
int crit_finish_lock_take(int directory_fd, int timeout_ms);

/* Says to those who wait that the report is in place; an archive may follow.  -1: nobody waits. */
void crit_finish_lock_mark_reported(int lock_fd);

/*
 * Waits until no finisher works on the directory's report; answers 0, or -ETIMEDOUT when one still
 * does.  The archive that follows the report is not waited for.
 */
int crit_finish_lock_wait(const char *directory, int timeout_ms);

/* The same for the archive: until no finisher holds the directory. */
int crit_finish_lock_wait_trace(const char *directory, int timeout_ms);

/* The same for a finisher just started; -ENOENT when it ended without a report. */
int crit_finish_lock_wait_report(const char *directory, int timeout_ms);

#endif
