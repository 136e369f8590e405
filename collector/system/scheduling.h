/* SPDX-License-Identifier: BSD-3-Clause */
/* How soon critd gets a CPU when programs spin on all of them. */
#ifndef CRIT_COLLECTOR_SCHEDULING_H
#define CRIT_COLLECTOR_SCHEDULING_H

#include <stdbool.h>

/*
 * While the kernel half is loaded: no more than our share, and on other CPUs than this one (-1: on
 * any), where others may be had, since the rank that started us goes on there: with a higher
 * priority it stood still for as long as loading takes, even where another CPU was idle.  For a
 * tenth of a second: where more than that is left to do, the machine is busy, and we hurry.
 */
void crit_scheduling_begin(int cpu);

/*
 * Asks to run soon and briefly, on all CPUs that we may: rings fill while we wait for one.  What is
 * not permitted is left out.  Threads: the calling one and those it makes.
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
