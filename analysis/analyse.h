/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What one analysis of some recordings leaves to the next one of the same: the recordings, open and
 * checked, what the index pass has learnt, and how messages move the nodes' clocks.
 *
 * Named in crit_analysis_options; crit_analyse (schema/results.h) fills it.  Bytes that recordings
 * grow by meanwhile are not seen until crit_run_index_renew.
 */
#ifndef CRIT_ANALYSE_H
#define CRIT_ANALYSE_H

#include <stdbool.h>

struct crit_recording;
struct crit_run_index;

/* An empty one.  Errors: NULL when out of memory. */
struct crit_run_index *crit_run_index_create(void);
void crit_run_index_destroy(struct crit_run_index *index);

/* Closes the recordings; what messages say of their clocks stays known. */
void crit_run_index_renew(struct crit_run_index *index);

/* The recordings, one per path, while they are open: borrowed; NULL: they are not. */
const struct crit_recording *const *crit_run_index_opened(struct crit_run_index *index);

/* For tests: have messages been looked at, and do they move clocks? */
bool crit_run_index_has_moved_clocks(const struct crit_run_index *index);

#endif
