/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Spans that nest: OpenMP constructs and the user's phases, published by libcrit_core.so beside
 * those of MPI calls.
 *
 * A thread keeps a stack of what it is in.  Beginnings and ends of OpenMP runtimes are not always
 * balanced: an end that does not fit the innermost span ends what was left open inside its own, or
 * nothing.  Inside an MPI call nothing is recorded; what is begun there is ended there.
 */
#ifndef CRIT_SHIM_CONSTRUCT_H
#define CRIT_SHIM_CONSTRUCT_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(default)

/* The region in force on the calling thread, 0 outside all. */
uint32_t crit_shim_region_now(void);

/*
 * Begins a construct's span with region in force inside it.  arg: of CRIT_S_ENTER.  Waits shorter
 * than tau are folded at level profile; spans that are neither waits, parallel regions, tasks nor
 * phases are not recorded there.  Cost: level trace one clock reading.
 */
void crit_shim_construct_begin(uint32_t call, uint32_t region, const void *site, uint64_t arg);
void crit_shim_construct_end(uint32_t call);

/* One, and at the same time another inside it, with no arg.  Cost: that of one. */
void crit_shim_construct_begin_two(uint32_t outer, uint32_t inner, uint32_t region,
				   const void *site, uint64_t arg);

/* The end of one, and at the same time the beginning of another.  Cost: one clock reading less. */
void crit_shim_construct_next(uint32_t ended, uint32_t call, uint32_t region, const void *site,
			      uint64_t arg);

/* A lock is released; call as that of the wait for it. */
void crit_shim_construct_release(uint32_t call, uint64_t lock);

/* What was done with the lock ends at the same time.  Cost: as construct_next. */
void crit_shim_construct_end_and_release(uint32_t ended, uint32_t call, uint64_t lock);

/*
 * A task was made: its number, to be handed to the beginnings of its spans as arg.  0: it is not
 * told.  A span of it ends next, but the task goes on later.
 */
uint64_t crit_shim_task_made(void);
void crit_shim_task_paused(uint64_t task);

/* The calling thread is a worker of an OpenMP runtime: idle outside all spans. */
void crit_shim_worker(void);

/* A number for one more execution of a parallel region, as CRIT_S_ENTER's arg has it. */
uint64_t crit_shim_instance(void);

/*
 * The user's phases; crit.h finds these two at run time, so names and arguments stay as they are.
 * Begins a phase of the calling thread, inside the one it is in.  Ownership: name is read at once.
 * Cost: that of crit_shim_phase and of a span; the first time of crit_shim_start.
 */
void crit_region_begin(const char *name);

/* Ends the innermost phase; without one it does nothing. */
void crit_region_end(void);

#pragma GCC visibility pop

#endif
