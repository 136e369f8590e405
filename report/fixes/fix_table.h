/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What would help: changes of the program, and how much sooner it would end with each of them.
 *
 * The code between two calls, or a function's own code, is made faster on all ranks, or balanced:
 * each rank then takes as long there as they do on average, those that never are there apart.
 * Units are ranks, or threads in runs without.  The candidates are the code with most time on the
 * critical path, which bounds what a change of it gains.
 */
#ifndef CRIT_FIX_TABLE_H
#define CRIT_FIX_TABLE_H

#include "core/base/err.h"
#include "report/causes/fix_sites.h"

enum crit_fix_kind {
	CRIT_FIX_FASTER = 0,
	CRIT_FIX_BALANCED,
	CRIT_FIX_ALL_BALANCED, /* all code between calls at once */
	CRIT_FIX_NO_TRANSFER, /* waits end with the last act that they need */
	CRIT_FIX_NO_QUEUEING, /* threads have a CPU whenever they want one; a wish alone */
	CRIT_FIX_NO_OVERSUBSCRIPTION, /* no thread of the run has a CPU that another one wants */
	CRIT_FIX_NO_PREEMPTION, /* nobody else has one that they want */
	CRIT_FIX_WISHES, /* what was asked for, together */
	CRIT_FIX_KIND_COUNT
};

struct crit_fix_wish {
	enum crit_fix_kind kind; /* none of ALL_BALANCED and WISHES */
	/* part of the text of code between calls; "function=NAME": the function, as crit_name_is */
	const char *place;
	int64_t rank; /* FASTER: of this one alone; -1: of all */
	int32_t percent; /* FASTER: how much less time, to 100; below 0: more */
};

struct crit_fix_wishes { /* only these, as one change; none: the most promising changes */
	const struct crit_fix_wish *rows;
	size_t count;
	/* The last two need a run that was filmed with states. */
	uint32_t cpus; /* of each node, for all of its threads; 0: as many as it could use */
	bool do_waiters_block; /* waits take no CPU from others */
};

/* Is a change asked for? */
static inline bool crit_fix_is_asked(const struct crit_fix_wishes *wishes)
{
	return wishes->count || wishes->cpus || wishes->do_waiters_block;
}

struct crit_fix_row {
	enum crit_fix_kind kind;
	const struct crit_code_place *place; /* FASTER, BALANCED; borrowed; else NULL */
	uint32_t percent; /* FASTER */
	uint32_t unit_count; /* that are there */
	uint64_t sample_count; /* of a function */
	uint64_t ns; /* in the place, or without a CPU for that reason, of all */
	int64_t gain_ns; /* how much sooner the last thread ends; below 0: later */
	double share; /* of the time until it ends */
	uint64_t order_changes; /* of the forecast */
};

struct crit_fix_table {
	struct crit_fix_row *rows; /* by gain, descending */
	size_t row_count;
	uint64_t recorded_ns; /* from the window's begin to the end of the last thread */
	uint64_t inside_count, circle_count; /* of the forecast */
	bool is_on_cpus; /* played with the CPUs that threads share (fix_cpus.h) */
	const struct crit_costs *costs; /* the input's, borrowed; NULL: not known */
	uint64_t wait_count;
	uint64_t free_waits[CRIT_FREE_COUNT]; /* of these */
};

/*
 * wishes: these alone, as one change; none: the most promising changes.
 * Ownership: fini by the caller; places are the input's.
 * Errors: -ENOMEM, those of the forecast; -ENOENT: no code is as a wish says.  Each with a line.
 */
int crit_fix_table_make(const struct crit_fix_input *input, const struct crit_fix_wishes *wishes,
			struct crit_fix_table *ret_table, struct crit_err *err);
void crit_fix_table_fini(struct crit_fix_table *table);

/*
 * Is much of the waiting in waits in which nobody is known to have acted?  They last as long with
 * any change, so who waits there and works more is foretold to be late.  costs: may be NULL.
 */
bool crit_fix_is_unsure(const struct crit_costs *costs);

/* Leaves out what balance is foretold to lose, where that is so. */
void crit_fix_table_omit_losses(struct crit_fix_table *table);

#endif
