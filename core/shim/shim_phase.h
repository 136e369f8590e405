/* SPDX-License-Identifier: BSD-3-Clause */
/* The user's phases; crit.h finds these at run time, so names and arguments stay as they are. */
#ifndef CRIT_SHIM_PHASE_H
#define CRIT_SHIM_PHASE_H

#pragma GCC visibility push(default)

/*
 * Begins a phase of the calling thread, inside the one it is in.  Ownership: name is read at once.
 * Cost: that of crit_shim_phase and of a span; the first time of crit_shim_start.
 */
void crit_region_begin(const char *name);

/* Ends the innermost phase; without one it does nothing. */
void crit_region_end(void);

#pragma GCC visibility pop

#endif
