/* SPDX-License-Identifier: BSD-3-Clause */
/* Closes what a process started by us would inherit. */
#ifndef CRIT_CLOSE_FROM_H
#define CRIT_CLOSE_FROM_H

/*
 * Closes every descriptor from first on, also on kernels before 5.9 and behind filters that do not
 * know close_range.  Threads: between fork and exec, too: nothing but system calls.  Errors: none;
 * errno is not kept.  Cost: without close_range a call for each open descriptor, or, without /proc,
 * for each number below 65536.
 */
void crit_close_from(unsigned int first);

#endif
