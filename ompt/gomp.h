/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libgomp has no OMPT, so its own functions are wrapped: between the files that do so.
 *
 * What is seen is what libgomp is asked for.  A static loop asks for nothing, and its barrier is an
 * explicit one as any other.
 */
#ifndef CRIT_OMPT_GOMP_H
#define CRIT_OMPT_GOMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/call.h"
#include "core/shim/shim_construct.h"

#define CRIT_GOMP_EXPORT __attribute__((visibility("default")))
#define CRIT_GOMP_HIDDEN __attribute__((visibility("hidden")))

typedef void crit_gomp_body(void *data);

enum crit_gomp_state {
	CRIT_GOMP_NEW = 0,
	CRIT_GOMP_ON = 1,
	CRIT_GOMP_OFF = 2 /* nothing is recorded, or by OMPT: LLVM's libomp has these names too */
};

extern CRIT_GOMP_HIDDEN int crit_gomp_state_now; /* enum crit_gomp_state; atomic */

/* Decides at the first call, and finds all functions.  Cost: that of crit_shim_start, once. */
CRIT_GOMP_HIDDEN bool crit_gomp_start(void);

/* A function of the runtime that would serve the program without us; its section is a table. */
struct crit_gomp_next {
	const char *name;
	void *function; /* atomic */
};

static inline bool crit_gomp_is_on(void)
{
	const int state = __atomic_load_n(&crit_gomp_state_now, __ATOMIC_ACQUIRE);

	return __builtin_expect(state == CRIT_GOMP_ON, 1) ||
	       (state == CRIT_GOMP_NEW && crit_gomp_start());
}

/* After crit_gomp_is_on. */
#define CRIT_GOMP_NEXT(name)                                                                       \
	({                                                                                         \
		static struct crit_gomp_next next_                                                 \
			__attribute__((section("crit_gomp_nexts"), used)) = { #name, NULL };       \
		(__typeof__(&(name)))__atomic_load_n(&next_.function, __ATOMIC_RELAXED);           \
	})

/* A construct in the region that is in force already. */
static inline void crit_gomp_begin(uint32_t call, const void *site, uint64_t arg)
{
	crit_shim_construct_begin(call, crit_shim_region_now(), site, arg);
}

#endif
