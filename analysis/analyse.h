/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The front door: recordings to results.
 *
 * A struct crit_run_index is what one analysis of some recordings leaves to the next one of the
 * same: the recordings, open and checked, what the index pass has learnt, and how messages move the
 * nodes' clocks.  Named in crit_analysis_options; crit_analyse fills it.  What recordings grow by
 * meanwhile is not seen until crit_run_index_renew.
 */
#ifndef CRIT_ANALYSE_H
#define CRIT_ANALYSE_H

#include <stdbool.h>
#include <stddef.h>

#include "analysis/schema/results.h"

struct crit_err;
struct crit_recording;
struct crit_run_index;

/*
 * Analyses the recordings of one run, one path per node.  Of several processes, which all name the
 * same paths, only process 0 gets results, as one process would; others leave *ret_results.
 * Ownership: the caller destroys *ret_results.  Errors: -ENOENT, -EPROTO (foreign file), -ENODATA
 * (no whole chunk), -ENOMEM, -EINVAL (CRIT_ACTIVE_KERNEL refused on shims only); err says why.
 * Cost: two passes over the files, O(1) per event, memory O(threads + calls + sites); both again
 * where messages say that clocks are to be moved, the second where a sink that cannot be told again
 * waits for that.
 */
int crit_analyse(const char *const *paths, size_t path_count,
		 const struct crit_analysis_options *options, struct crit_results **ret_results,
		 struct crit_err *err);

/* An empty one.  Errors: NULL when out of memory. */
struct crit_run_index *crit_run_index_create(void);
void crit_run_index_destroy(struct crit_run_index *index);

/* Opens them before the first analysis does.  Errors: those of crit_analyse; err says why. */
int crit_run_index_open(struct crit_run_index *index, const char *const *paths, size_t path_count,
			struct crit_err *err);

/* Closes the recordings; what messages say of their clocks stays known. */
void crit_run_index_renew(struct crit_run_index *index);

/* The recordings, one per path, while they are open: borrowed; NULL: they are not. */
const struct crit_recording *const *crit_run_index_opened(struct crit_run_index *index);

/* For tests: have messages been looked at, and do they move clocks? */
bool crit_run_index_has_moved_clocks(const struct crit_run_index *index);

#endif
