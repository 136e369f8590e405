/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A film is turned round (resolved_film.h) by a thread of its own, beside who plays it and reads it
 * for both.
 */
#ifndef CRIT_TURNING_THREAD_H
#define CRIT_TURNING_THREAD_H

#include "analysis/waits/resolved_film.h"

struct crit_turning_thread;

/*
 * Where no thread can be had, the caller does it.  Ownership: end frees.
 * Errors: those of crit_film_turning_create.  Memory: some hundred KiB.
 */
int crit_turning_thread_create(const struct crit_resolved_film_options *options,
			       struct crit_turning_thread **ret_thread, struct crit_err *err);

/* As crit_film_turning_take.  thread: one of these; it copies the entries. */
void crit_turning_thread_take(void *thread, const struct crit_film_entry *entries, size_t count);

/* Waits until all is turned round.  Errors: those of crit_film_turning_end. */
int crit_turning_thread_end(struct crit_turning_thread *thread, struct crit_filmed_run *ret_run,
			    struct crit_err *err);

#endif
