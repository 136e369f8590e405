/* SPDX-License-Identifier: BSD-3-Clause */
/* The waits of a run: filmed while it is analysed, then played, which tells what they cost. */
#ifndef CRIT_RUN_WAITS_H
#define CRIT_RUN_WAITS_H

#include "analysis/schema/event.h"
#include "analysis/schema/results.h"
#include "analysis/schema/trace.h"
#include "analysis/waits/filming.h"
#include "core/base/err.h"
#include "report/causes/cause_table.h"
#include "report/fixes/fix_table.h"

struct crit_run_waits;

/*
 * wishes: of them, where the film is to lie if temporary files cannot; how large it may be is a
 * setting.
 * Ownership: the caller's to destroy.  Errors: NULL, with a line in err.
 */
struct crit_run_waits *crit_run_waits_create(const struct crit_filming_options *wishes,
					     struct crit_err *err);
void crit_run_waits_destroy(struct crit_run_waits *waits);

/* Who is to be told of an analysis.  Both are the waits'. */
void crit_run_waits_listen(struct crit_run_waits *waits, const struct crit_trace_sink **ret_sink,
			   const struct crit_listener **ret_listener);

/*
 * A retell of struct crit_analysis_options: forgets what an analysis has told.  Returns 0; playing
 * says why it could not.
 */
int crit_run_waits_retell(void *waits);

/* Who is told of each wait, as crit_filming_tell has it. */
void crit_run_waits_tell(struct crit_run_waits *waits, const struct crit_wait_listener *listener);

/* Once it is over.  Errors: with a line in err, those of crit_filming_play. */
int crit_run_waits_play(struct crit_run_waits *waits, struct crit_err *err);

/*
 * Of waits that were played, which have needs: compares what the ranks did, for tables from here
 * on.  Errors: those of crit_run_waits_input and crit_code_excess_make; tables do without.
 */
int crit_run_waits_compare(struct crit_run_waits *waits, const struct crit_results *results,
			   struct crit_symbols *symbols, struct crit_err *err);

/*
 * Of waits that were played; results are those of their analysis.
 * Ownership: the caller's, before the waits are destroyed.  Errors: NULL, out of memory.
 */
struct crit_cause_table *crit_run_waits_table(struct crit_run_waits *waits,
					      const struct crit_results *results,
					      struct crit_symbols *symbols, enum crit_cause_by by);

/*
 * Of waits that were played, which have needs: what would help.  wishes, or the most promising.
 * Ownership: fini by the caller, before the waits are destroyed.  Errors: those of
 * crit_filming_resolve and crit_fix_table_make.
 */
int crit_run_waits_fixes(struct crit_run_waits *waits, const struct crit_results *results,
			 struct crit_symbols *symbols, const struct crit_fix_wishes *wishes,
			 struct crit_fix_table *ret_table, struct crit_err *err);

/*
 * Of waits that were played, which have needs: what changes of them are foretold by.  It borrows
 * all; the run is the waits'.  Errors: those of crit_filming_resolve; -ENOMEM.
 */
int crit_run_waits_input(struct crit_run_waits *waits, const struct crit_results *results,
			 struct crit_symbols *symbols, struct crit_fix_input *ret_input,
			 struct crit_err *err);

/* Until where waits are known, from the window's begin. Units: ns. */
uint64_t crit_run_waits_window_ns(const struct crit_run_waits *waits);

#endif
