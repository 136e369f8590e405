/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Barriers of OpenMP teams: when the last member arrives, and how long each stays runnable after
 * that.
 *
 * A member has arrived while a barrier is the innermost span of its thread; a task it executes
 * there holds the barrier up.  Once all have arrived the barrier is over: whoever is still in it
 * and not on a CPU waits for one, not for OpenMP.
 *
 * Cost: O(members) per barrier of a team and per task begun in one that was complete; else O(1).
 */
#ifndef CRIT_BARRIERS_H
#define CRIT_BARRIERS_H

#include <stdbool.h>
#include <stdint.h>

struct crit_engine;

/* A thread is about to begin a span of this call; its cells are up to date. */
void crit_barriers_enter(struct crit_engine *engine, uint32_t thread, uint32_t call,
			 uint64_t time_ns);

/* Spans of a thread have ended; its cells are up to date. */
void crit_barriers_leave(struct crit_engine *engine, uint32_t thread, uint64_t time_ns);

/* A member, whose cells are up to date, is about to be out of its team, or dead. */
void crit_barriers_forget(struct crit_engine *engine, uint32_t member, bool is_dead);

/* A thread has joined an instance. */
void crit_barriers_joined(struct crit_engine *engine, uint32_t instance);

#endif
