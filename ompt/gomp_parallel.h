/* SPDX-License-Identifier: BSD-3-Clause */
/* Where in the program a construct is that calls the runtime. */
#ifndef CRIT_GOMP_PARALLEL_H
#define CRIT_GOMP_PARALLEL_H

#include "ompt/gomp.h"

/*
 * The code that asked for it.  What a region's body does last may be a jump, as if our own function
 * that called the body had asked: then the region stands for it.
 */
#define CRIT_GOMP_CALL_SITE crit_gomp_call_site(__builtin_return_address(0))
CRIT_GOMP_HIDDEN const void *crit_gomp_call_site(const void *code);

/*
 * The place of a construct whose code GCC made a function of: that begins with the directive, and
 * is of this construct alone.  The call has the line of the code before it or none, and may be a
 * jump, which has the caller's.  As return addresses do, it lies behind what it names.
 */
static inline const void *crit_gomp_body_site(crit_gomp_body *body)
{
	return (const void *)((uintptr_t)body + 1);
}

/* What its team does in turn, one after the other. */
struct crit_gomp_turn {
	uint64_t of; /* the team's, as a lock is told apart; 0: there is no team */
	bool is_had; /* the thread has had it since it got its present iterations */
};

/* Of the calling thread, in the region it is in. */
CRIT_GOMP_HIDDEN struct crit_gomp_turn *crit_gomp_turn(void);

#endif
