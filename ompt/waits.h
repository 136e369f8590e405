/* SPDX-License-Identifier: BSD-3-Clause */
/* What the waits of an OpenMP runtime need to know of it. */
#ifndef CRIT_OMPT_WAITS_H
#define CRIT_OMPT_WAITS_H

/* Looks into the runtime that has this function for what its events do not tell. */
void crit_ompt_learn_locks(const void *function);

#endif
