/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of causes, of pairs and of late acts, as the writers see them. */
#ifndef CRIT_CAUSE_ROWS_H
#define CRIT_CAUSE_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/symbols/symbols.h"
#include "analysis/waits/backwards/costs.h"

#define CRIT_WHO_LOCKS UINT32_MAX

struct crit_code_key;
struct crit_code_place;
struct crit_who_regions;

struct crit_who_region { /* or a task, or a phase */
	uint32_t number; /* of this process, by which they are told apart */
	uint16_t call; /* 0: outside of all */
	struct crit_source_location place;
};

struct crit_who { /* both CRIT_NONE, and no lock: all together, or nobody of the run */
	uint32_t rank; /* row */
	uint32_t thread; /* row; CRIT_NONE: all of the rank */
	uint32_t lock; /* 0: none; its number; CRIT_WHO_LOCKS: all of the rank */
	bool is_name; /* all threads that have the thread's name */
	const struct crit_who_region *region; /* while in that, not in one inside; NULL: wherever */
};

struct crit_who_rule { /* zeroed: ranks, threads of none */
	bool is_thread;
	uint32_t *same_names; /* of each thread the first one of its name; NULL: not by names */
};

struct crit_cause_row {
	struct crit_who who;
	double without_cpu; /* of the time it computed, share in which it had no CPU; of who */
	const struct crit_code_place *place; /* borrowed; NULL: code is not told apart */
	bool is_cpu; /* it wanted a CPU and had none, wherever it was */
	bool is_blocked; /* of code: it was blocked there, by nobody of the run */
	bool is_outside; /* nobody of the run: a timer, a device, another program */
	crit_integral cost; /* ns of all who waited for it, directly or through others */
	crit_integral direct; /* of these, of those who waited for it alone */
	uint64_t path_ns; /* on the critical path */
	bool has_excess; /* it is known, and of code or of wanting a CPU: */
	bool has_delay; /* likewise, and threads have met */
	double delay_ns; /* what who came last did beyond the mean of all who met it */
	double path_excess_ns; /* of code: of path_ns, beyond its mean time */
	double share; /* of all waiting */
};

struct crit_waiter_row {
	struct crit_who from, to; /* who waits, and for whom */
	uint64_t count;
	uint64_t raw_ns, self_ns; /* of waiting; of these, while `to` ran */
	crit_integral impact; /* the same, of the waiter and all behind it */
};

struct crit_late_row { /* an act of one that others waited for */
	struct crit_cause_row actor, waiter; /* who acted after what; who waited longest, where */
	uint32_t waiters; /* threads and locks, directly */
	uint64_t time_ns; /* of the act, from the window's begin */
	uint64_t longest_ns; /* until then */
	uint64_t clock_bound_ns; /* of that, between two nodes' clocks; CRIT_CLOCK_UNBOUND */
	crit_integral impact; /* ns of all that waited, and of all behind them */
};

struct crit_cause_table {
	const struct crit_costs *costs; /* borrowed */
	struct crit_cause_row *rows; /* by cost, then by path, descending; none without both */
	size_t row_count;
	struct crit_waiter_row *pairs; /* by impact, descending */
	size_t pair_count;
	struct crit_late_row *late_acts; /* by impact, descending */
	size_t late_count;
	double late_ns; /* that late ones computed longer, of all they did together (delays.h) */
	uint64_t met_count, cut_count; /* that delays are of (delays.h); of these, cut */
	struct crit_who_rule rule; /* of pairs and late acts */
	const struct crit_code_key *keys; /* borrowed: the buckets of the costs */
	struct crit_who_regions *regions; /* that pairs are told apart by; NULL: they are not */
};

#endif
