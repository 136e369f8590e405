/* SPDX-License-Identifier: BSD-3-Clause */
/* Who a bucket is of. */
#ifndef CRIT_CAUSE_SITE_H
#define CRIT_CAUSE_SITE_H

#include "analysis/schema/results.h"
#include "analysis/waits/code_keys.h"
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

/* An order, as qsort has it. */
int crit_cause_compare_who(const struct crit_who *left, const struct crit_who *right);

/* A hash, the same where that finds no difference. */
uint64_t crit_cause_hash_who(const struct crit_who *who);

#endif
