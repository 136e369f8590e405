/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that a run loses sight of before their end, or that are killed before they are ranks:
 * learned from EXEC and EXIT records by the index pass, named in the results.
 */
#ifndef CRIT_PROCESS_ENDS_H
#define CRIT_PROCESS_ENDS_H

#include <stdint.h>

#include "core/abi/abi_kernel.h"

struct crit_model;
struct crit_results;

/* An EXEC with which the kernel half ended; thread: of the task, CRIT_NONE.  Errors: -ENOMEM. */
int crit_process_ends_add(struct crit_model *model, uint32_t node, uint32_t thread,
			  const struct crit_kernel_exec *record);

/* The EXIT of a thread: how its process ended, as the main thread's has it. */
void crit_process_ends_exit(struct crit_model *model, uint32_t thread,
			    const struct crit_kernel_exit *record);

/* Fills results->ends, sorted by time, once roles and ranks are known.  Errors: -ENOMEM. */
int crit_process_ends_fill(const struct crit_model *model, struct crit_results *results);

#endif
