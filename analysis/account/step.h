/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps: each change of the share or bucket of a thread, as the scope of the run takes it. */
#ifndef CRIT_STEP_H
#define CRIT_STEP_H

#include "analysis/account/bucket.h"
#include "analysis/account/scope.h"

/* A segment of a thread ends and another begins: what that means to the scope of the run. */
struct crit_run_step {
	uint64_t time_ns;
	struct crit_bucket *from, *to;
	uint32_t thread;
	uint8_t share_before, share_after; /* enum crit_share */
	int8_t may_wait_change; /* of its being active, if mpi_may_wait is: -1, 0, 1 */
};

struct crit_step_sink { /* has the run's integrals where other processes replay other nodes */
	void *user;
	int (*add)(void *user, const struct crit_run_step *step); /* Errors: -ENOMEM. */
};

#endif
