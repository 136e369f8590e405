/* SPDX-License-Identifier: BSD-3-Clause */
/* Who had the CPUs that ranks or threads wanted: of the one that lost most, and of all. */
#ifndef CRIT_PREEMPTED_H
#define CRIT_PREEMPTED_H

#include "report/tables/summary.h"

#define CRIT_OTHERS_SENTENCE 256 /* bytes */

/* Fills preempted_note. */
void crit_preempted_find(struct crit_summary *summary);

/*
 * "others had the CPUs for 0.4 s in which ranks wanted them, the run's own threads for 0.5 s (sum
 * over ranks)", where there is foreign load; "crit itself had the CPUs ..." where that took most.
 */
void crit_preempted_by_others(const struct crit_summary *summary, char *text, size_t text_bytes);

#endif
