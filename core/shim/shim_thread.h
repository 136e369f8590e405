/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread's buffer of the shared memory and its scratch memory, until its exit. */
#ifndef CRIT_SHIM_THREAD_H
#define CRIT_SHIM_THREAD_H

#include <stddef.h>

#define CRIT_SHIM_SCRATCH_MAX (32u << 20)

struct crit_shim_thread;

#pragma GCC visibility push(default)

/*
 * At least so many bytes that belong to the calling thread, for one wrapper at a time; NULL: there
 * is no memory, or CRIT_SHIM_SCRATCH_MAX is less.  Cost: a mapping when a thread asks for more than
 * ever before, twice as much each time.
 */
void *crit_shim_scratch(size_t bytes);

#pragma GCC visibility pop

/* Inside libcrit_core.so. */
#pragma GCC visibility push(hidden)

/* Gives the calling thread a thread buffer, or makes it tag-only. */
void crit_thread_claim(struct crit_shim_thread *thread);

/* At the end of a thread: its thread buffer goes to critd, its scratch memory to the system. */
void crit_thread_release(void *unused);

/* The calling thread's scratch memory, if it has one, is released. */
void crit_scratch_release(struct crit_shim_thread *thread);

#pragma GCC visibility pop

#endif
