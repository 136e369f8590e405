/* SPDX-License-Identifier: BSD-3-Clause */
/* How soon critd gets a CPU when programs spin on all of them. */
#ifndef CRIT_COLLECTOR_SCHEDULING_H
#define CRIT_COLLECTOR_SCHEDULING_H

#include <stdbool.h>

/*
 * Runs on other CPUs than this one, where any may be had: the program that started us goes on
 * there.  Until crit_scheduling_drain().  Threads: the calling one and those it makes.
 */
void crit_scheduling_leave_cpu(unsigned int cpu);

/*
 * Asks to run soon and briefly: rings fill while we wait for a CPU.  What is not permitted is left
 * out.  Not before the kernel half is loaded: a rank that has the same CPU stood still for as long
 * as that takes, even where another CPU was idle.  Threads: as above.
 */
void crit_scheduling_drain(void);

/*
 * Asks for a real-time priority.  Not before the kernel half is loaded either.  Threads: as above.
 */
void crit_scheduling_go_first(void);

/*
 * From here on: after a second of CPU time without waiting for anything, far more than a storm of
 * messages takes, all threads give up a real-time priority for good and have but their share.
 */
void crit_scheduling_bound(void);

/* Called by every other thread before a piece of work: gives up what the main loop gave up. */
void crit_scheduling_follow(void);

/* Gives it up at once.  Returns whether there was one. */
bool crit_scheduling_step_back(void);

/* Was the priority given up since this was last asked? */
bool crit_scheduling_ask_stepped_back(void);

#endif
