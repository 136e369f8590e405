/* SPDX-License-Identifier: BSD-3-Clause */
/* How soon critd gets a CPU when programs spin on all of them. */
#ifndef CRIT_COLLECTOR_SCHEDULING_H
#define CRIT_COLLECTOR_SCHEDULING_H

/*
 * Asks to run soon and briefly: rings fill while we wait.  What is not permitted is left out.
 * Threads: the calling one and those it makes.
 */
void crit_scheduling_go_first(void);

#endif
