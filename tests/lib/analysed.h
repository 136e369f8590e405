/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the analysis over recordings that lie in memory, and compares what it yields. */
#ifndef CRIT_TESTS_ANALYSED_H
#define CRIT_TESTS_ANALYSED_H

#include "tests/sim/oracle.h"

#define CRIT_ANALYSED_NODES 8 /* at most */

/* Analyses one made recording per node.  Ownership: the caller destroys *ret_results. */
int crit_analysed_makers(struct crit_maker *const *makers, size_t count, enum crit_active_rule rule,
			 struct crit_results **ret_results);

/* The same, telling a sink (analysis/schema/trace.h). */
int crit_analysed_traced(struct crit_maker *const *makers, size_t count, enum crit_active_rule rule,
			 const struct crit_trace_sink *sink, struct crit_results **ret_results);

/* The same, with all options. */
int crit_analysed_with(struct crit_maker *const *makers, size_t count,
		       const struct crit_analysis_options *options,
		       struct crit_results **ret_results);

/* The same for bytes of any origin, one node. */
int crit_analysed_bytes(const void *bytes, size_t length, enum crit_active_rule rule,
			struct crit_results **ret_results);

/*
 * Records a scenario and analyses it; options (may be NULL) shape the recording, interleave != 0
 * its order.
 */
int crit_analysed_scenario(const struct crit_scenario *s, enum crit_active_rule rule,
			   const struct crit_maker_options *options, uint64_t interleave,
			   struct crit_results **ret_results);

/*
 * A synthetic run of three ranks, [0] as it is and [1] with what the options' callbacks do to it,
 * by the maker that they find in ret_maker; as finish, below.
 */
void crit_analysed_pair(const struct crit_maker_options *options, bool is_spinning,
			struct crit_maker **ret_maker, struct crit_results *ret_results[2]);

/* Analyses and destroys the makers; checks what must hold.  Errors: ends the test. */
struct crit_results *crit_analysed_finish(struct crit_maker **makers, size_t count,
					  enum crit_active_rule rule);

/* The row of a task number; ends the test when there is none. */
const struct crit_thread_row *crit_analysed_thread(const struct crit_results *r, uint32_t tid);

double crit_analysed_ms(crit_fix value);

/* Sum of a thread's cells, in ns. */
uint64_t crit_analysed_cells_ns(const struct crit_cells *cells);

/* Losses of every kind but unknown_ns and folded_ns, added up. */
uint64_t crit_analysed_losses(const struct crit_losses *losses);

/*
 * What must hold for any input: the laws of every unit and scope, recomputed from the rows; each
 * thread's cells sum to its life; what is waited for equals what waits.  Yields NULL, or which
 * one is
 * broken.  Borrowed, lives for ever.
 */
const char *crit_analysed_failed_check(const struct crit_results *results);

/*
 * A digest of every number and text of the results but samples: equal digests, equal results.
 */
uint64_t crit_analysed_digest(const struct crit_results *results);

/* The same of samples alone. */
uint64_t crit_analysed_samples_digest(const struct crit_results *results);

#endif
