/* SPDX-License-Identifier: BSD-3-Clause */
/* What waits cost, by who let others wait and where in the code; and who waited for whom. */
#ifndef CRIT_CAUSE_TABLE_H
#define CRIT_CAUSE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/schema/results.h"
#include "analysis/symbols/symbols.h"
#include "analysis/waits/code_keys.h"
#include "analysis/waits/costs.h"

enum crit_cause_by {
	CRIT_CAUSE_BY_PLACE = 0, /* of each rank, or of each thread without ranks */
	CRIT_CAUSE_BY_RANK, /* or thread without ranks */
	CRIT_CAUSE_BY_THREAD,
	CRIT_CAUSE_BY_SITE, /* of all ranks together */
	CRIT_CAUSE_BY_COUNT
};

struct crit_who { /* both CRIT_NONE: all together, or nobody of the run */
	uint32_t rank; /* row */
	uint32_t thread; /* row; CRIT_NONE: all of the rank */
};

struct crit_cause_row {
	struct crit_who who;
	double without_cpu; /* of the time it computed, share in which it had no CPU; of who */
	struct crit_source_location before, after; /* of the calls */
	uint16_t before_call, after_call; /* 0: the begin, the end */
	bool is_call; /* it is in the call before */
	bool is_outside; /* nobody of the run: a timer, a device, another program */
	bool has_place; /* else code is not told apart */
	crit_integral cost; /* ns of all who waited for it, directly or through others */
	crit_integral direct; /* of these, of those who waited for it alone */
	uint64_t path_ns; /* on the critical path */
};

struct crit_waiter_row {
	struct crit_who from, to; /* who waits, and for whom */
	uint64_t count;
	uint64_t raw_ns, self_ns; /* of waiting; of these, while `to` ran */
	crit_integral impact; /* the same, of the waiter and all behind it */
};

struct crit_cause_table {
	const struct crit_costs *costs; /* borrowed */
	struct crit_cause_row *rows; /* by cost, then by path, descending; none without both */
	size_t row_count;
	struct crit_waiter_row *pairs; /* by impact, descending */
	size_t pair_count;
};

/*
 * keys: the buckets of the costs.  symbols may be NULL: bare addresses, not joined.
 * Ownership: fini frees; costs and symbols must outlive it.  Errors: -ENOMEM.
 */
int crit_cause_table_init(struct crit_cause_table *table, const struct crit_costs *costs,
			  const struct crit_code_key *keys, const struct crit_results *results,
			  struct crit_symbols *symbols, enum crit_cause_by by);
void crit_cause_table_fini(struct crit_cause_table *table);

/* "place", "rank", "thread", "site"; CRIT_CAUSE_BY_COUNT: no such word. */
enum crit_cause_by crit_cause_by_parse(const char *word);

#endif
