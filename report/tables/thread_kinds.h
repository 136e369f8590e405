/* SPDX-License-Identifier: BSD-3-Clause */
/* Which threads do the same: those whose samples lie below the same first function. */
#ifndef CRIT_THREAD_KINDS_H
#define CRIT_THREAD_KINDS_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/schema/results.h"
#include "report/tables/region_table.h"

/*
 * Of each thread a number, equal where the function is that most of its samples lie below: the
 * outermost one outside libraries that begin threads, which is what a thread was made to run, or
 * main.  0: not known, with fewer than 3 samples, or below an interpreter, whose threads all begin
 * alike.  Ownership: the caller frees.  Errors: NULL when out of memory.
 * Cost: one look-up per call path and address.
 */
uint32_t *crit_thread_kinds_of(const struct crit_results *results,
			       const struct crit_region_finder *finder);

/* Does a file begin programs and threads, or hand out work?  It has no caller in a user's sense. */
bool crit_thread_kinds_is_runtime(const char *module);

#endif
