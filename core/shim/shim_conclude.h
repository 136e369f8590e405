/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0's last line on standard error: where the report is, or why there is none. */
#ifndef CRIT_SHIM_CONCLUDE_H
#define CRIT_SHIM_CONCLUDE_H

#pragma GCC visibility push(default)

/*
 * Waits for the report, at most CRIT_FINISH_S or, without that, CRIT_END_MS, and says on standard
 * error in one line where it is, that it follows, or why there is none; see core/client/notice.h
 * for what keeps it silent.
 */
void crit_shim_conclude(void);

#pragma GCC visibility pop

#endif
