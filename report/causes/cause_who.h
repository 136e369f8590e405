/* SPDX-License-Identifier: BSD-3-Clause */
/* Who a bucket is of, and where in the code, by names. */
#ifndef CRIT_CAUSE_SITE_H
#define CRIT_CAUSE_SITE_H

#include "analysis/schema/results.h"
#include "analysis/waits/code_keys.h"
#include "core/base/call.h"
#include "report/causes/cause_rows.h"

/* The thread's rank; is_thread, and where it has none: the thread. */
struct crit_who crit_cause_who_of(const struct crit_results *results, uint32_t thread,
				  bool is_thread);

/* By a rule: the same, or all threads of its name. */
struct crit_who crit_cause_who_by(const struct crit_results *results,
				  const struct crit_who_rule *rule, uint32_t thread);

/* Of each thread the first one of its name.  Ownership: the caller's.  Errors: NULL, -ENOMEM. */
uint32_t *crit_cause_same_names(const struct crit_results *results);

/* The lock of such a key; but for is_thread, and where it is of no rank, all locks of the rank. */
struct crit_who crit_cause_lock_of(const struct crit_results *results,
				   const struct crit_code_key *key, bool is_thread);

/* Fills the row's place, by the calls of a key that is not outside.  symbols may be NULL. */
void crit_cause_find_place(struct crit_cause_row *row, const struct crit_code_key *key,
			   const struct crit_results *results, struct crit_symbols *symbols);

/* The region of that number in a thread's process.  NULL: there is none. */
const struct crit_region_row *crit_cause_region_row(const struct crit_results *results,
						    const struct crit_thread_row *thread,
						    uint64_t number);

/* The call and place of a row of the results' regions.  symbols may be NULL. */
void crit_cause_region_place(const struct crit_results *results, size_t row,
			     struct crit_symbols *symbols, struct crit_who_region *ret_region);

/*
 * Makes the row one of the function with code of its own at a sampled address of a thread.  False:
 * none is known there.
 */
bool crit_cause_find_function(struct crit_cause_row *row, uint64_t address,
			      const struct crit_thread_row *thread, struct crit_symbols *symbols);

/* Is such a call of a key the begin or end of a phase, whose name is its place's function? */
static inline bool crit_cause_is_phase(uint16_t call)
{
	return call == CRIT_CONSTRUCT_PHASE || call == CRIT_CODE_PHASE_END;
}

/* Orders, as qsort has it; places without regard to who. */
int crit_cause_compare_who(const struct crit_who *left, const struct crit_who *right);
int crit_cause_compare_call(uint16_t left_call, const struct crit_source_location *left,
			    uint16_t right_call, const struct crit_source_location *right);
int crit_cause_compare_place(const struct crit_cause_row *left, const struct crit_cause_row *right);

/* Hashes, the same where these find no difference; a place that is a function's has its name. */
uint64_t crit_cause_hash_who(const struct crit_who *who);
uint64_t crit_cause_hash_place(const struct crit_cause_row *row);

#endif
