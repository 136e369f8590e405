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
#include <stdint.h>

#include "core/call.h"
#include "core/shim_construct.h"

#define CRIT_GOMP_EXPORT __attribute__((visibility("default")))
#define CRIT_GOMP_HIDDEN __attribute__((visibility("hidden")))

/*
 * The code that asked for it.  What a region's body does last may be a jump, as if our own function
 * that called the body had asked: then the region stands for it.
 */
#define CRIT_GOMP_SITE crit_gomp_site(__builtin_return_address(0))
CRIT_GOMP_HIDDEN const void *crit_gomp_site(const void *code);

typedef void crit_gomp_body(void *data);

enum crit_gomp_state {
	CRIT_GOMP_NEW = 0,
	CRIT_GOMP_ON = 1,
	CRIT_GOMP_OFF = 2 /* nothing is recorded, or by OMPT: LLVM's libomp has these names too */
};

extern CRIT_GOMP_HIDDEN int crit_gomp_state_now; /* enum crit_gomp_state; atomic */

/* Decides at the first call.  Cost: that of crit_shim_start, once. */
CRIT_GOMP_HIDDEN bool crit_gomp_start(void);

/* The function of that name in the runtime that would serve the program without us. */
CRIT_GOMP_HIDDEN void *crit_gomp_find(const char *name);

static inline bool crit_gomp_is_on(void)
{
	const int state = __atomic_load_n(&crit_gomp_state_now, __ATOMIC_ACQUIRE);

	return __builtin_expect(state == CRIT_GOMP_ON, 1) ||
	       (state == CRIT_GOMP_NEW && crit_gomp_start());
}

#define CRIT_GOMP_NEXT(name)                                                                       \
	({                                                                                         \
		static void *next_;                                                                \
		void *found_ = __atomic_load_n(&next_, __ATOMIC_RELAXED);                          \
		if (__builtin_expect(!found_, 0)) {                                                \
			found_ = crit_gomp_find(#name);                                            \
			__atomic_store_n(&next_, found_, __ATOMIC_RELAXED);                        \
		}                                                                                  \
		(__typeof__(&(name)))found_;                                                       \
	})

/* A construct in the region that is in force already. */
static inline void crit_gomp_begin(uint32_t call, const void *site, uint64_t arg)
{
	crit_shim_construct_begin(call, crit_shim_region_now(), site, arg);
}

#endif
