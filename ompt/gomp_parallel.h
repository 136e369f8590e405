/* SPDX-License-Identifier: BSD-3-Clause */
/* The code of a parallel region that calls the runtime. */
#ifndef CRIT_GOMP_PARALLEL_H
#define CRIT_GOMP_PARALLEL_H

#include "ompt/gomp.h"

/*
 * The code that asked for it.  What a region's body does last may be a jump, as if our own function
 * that called the body had asked: then the region stands for it.
 */
#define CRIT_GOMP_CALL_SITE crit_gomp_call_site(__builtin_return_address(0))
CRIT_GOMP_HIDDEN const void *crit_gomp_call_site(const void *code);

/* What its team does in turn, one after the other. */
struct crit_gomp_turn {
	uint64_t of; /* the team's, as a lock is told apart; 0: there is no team */
	bool is_had; /* the thread has had it since it got its present iterations */
};

/* Of the calling thread, in the region it is in. */
CRIT_GOMP_HIDDEN struct crit_gomp_turn *crit_gomp_turn(void);

#endif
