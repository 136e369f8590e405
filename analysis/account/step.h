/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps: each change of the share or bucket of a thread, as the scope of the run takes it. */
#ifndef CRIT_STEP_H
#define CRIT_STEP_H

#include "analysis/account/bucket.h"
#include "analysis/account/scope.h"

struct crit_marks { /* where the integrals stood when the segment began */
	crit_fix cmetric[CRIT_UNIT_COUNT];
	crit_fix all_waiting[CRIT_UNIT_COUNT];
	crit_fix waited;
	uint64_t active_ns;
	crit_fix may_wait_cmetric;
};

struct crit_node_account { /* of a thread, where nodes have integrals of their own */
	struct crit_marks marks;
	crit_fix cmetric[CRIT_UNIT_COUNT];
	crit_fix all_waiting[CRIT_UNIT_COUNT];
};

/* A segment of a thread ends and another begins: what that means to the scope of the run. */
struct crit_run_step {
	uint64_t time_ns;
	struct crit_bucket *from, *to;
	uint32_t thread;
	uint8_t share_before, share_after; /* enum crit_share */
	int8_t may_wait_change; /* of its being active, if mpi_may_wait is: -1, 0, 1 */
	bool is_sample; /* nothing changes; n is asked for */
};

struct crit_step_sink { /* has the run's integrals where other processes replay other nodes */
	void *user;
	int (*add)(void *user, const struct crit_run_step *step); /* Errors: -ENOMEM. */
};

/*
 * n in the time that ends at time_ns, whatever else happens at that instant, and 1 at least.
 * Range: not before now_ns.
 */
static inline uint32_t crit_scope_active_until(const struct crit_scope_state *scope,
					       uint64_t time_ns)
{
	uint32_t active = time_ns > scope->now_ns ? scope->active[CRIT_UNIT_THREADS]
						  : scope->active_before;

	return active ? active : 1;
}

#endif
