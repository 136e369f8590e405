/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * To run soon and briefly, where that is permitted.
 *
 * Where threads of a CPU do nothing but wake each other, the fair scheduler of Linux 6.18 lets a
 * third one wait for seconds, whatever its nice value.
 */
#ifndef CRIT_BRIEF_PRIORITY_H
#define CRIT_BRIEF_PRIORITY_H

/*
 * Of a process of one thread and the children it makes: the lowest real-time priority, which each
 * gives up for good once it has taken that much of a CPU without waiting for anything; then, and
 * where it is not permitted, the nice value.  SIGXCPU is taken.
 */
void crit_brief_priority_take(int nice_value, unsigned int unbroken_us);

#endif
