// SPDX-License-Identifier: BSD-3-Clause
// Wrappers of the locks of libgomp: the wait for one is a span, that it is released a note; they
// need not nest.
#include "ompt/gomp_parallel.h"

#include <stddef.h>

#define PLAIN CRIT_CONSTRUCT_LOCK_WAIT
#define NEST CRIT_CONSTRUCT_NEST_LOCK_WAIT

/* Nest locks that the thread has, and how often; of more than fit each release counts. */
static __thread struct held {
	const void *lock;
	unsigned int depth; /* 0: the row is free */
} held[8] __attribute__((tls_model("initial-exec")));

static struct held *find(const void *lock)
{
	struct held *unused = NULL;

	for (size_t i = 0; i < sizeof(held) / sizeof(held[0]); i++) {
		if (held[i].depth && held[i].lock == lock)
			return &held[i];
		if (!held[i].depth)
			unused = &held[i];
	}
	return unused;
}

/* The wait for it ends. */
static inline void take(uint32_t wait, const void *lock)
{
	struct held *row = wait == NEST ? find(lock) : NULL;

	if (row) {
		row->lock = lock;
		row->depth++;
	}
	crit_shim_construct_end(wait);
}

static inline void give_back(uint32_t wait, const void *lock)
{
	struct held *row = wait == NEST ? find(lock) : NULL;

	if (row && row->depth && --row->depth)
		return; /* it has it still */
	crit_shim_construct_release(wait, (uintptr_t)lock);
}

#define LOCKS(name, WAIT)                                                                          \
	CRIT_GOMP_EXPORT void name(void *lock);                                                    \
	void name(void *lock)                                                                      \
	{                                                                                          \
		const bool is_on = crit_gomp_is_on();                                              \
                                                                                                   \
		if (is_on)                                                                         \
			crit_gomp_begin(WAIT, CRIT_GOMP_CALL_SITE, (uintptr_t)lock);               \
		CRIT_GOMP_NEXT(name)(lock);                                                        \
		if (is_on)                                                                         \
			take(WAIT, lock);                                                          \
	}

#define UNLOCKS(name, WAIT)                                                                        \
	CRIT_GOMP_EXPORT void name(void *lock);                                                    \
	void name(void *lock)                                                                      \
	{                                                                                          \
		if (crit_gomp_is_on())                                                             \
			give_back(WAIT, lock);                                                     \
		CRIT_GOMP_NEXT(name)(lock);                                                        \
	}

/* A lock that is got at once, by trying, is one that was waited for no time. */
#define TRIES(name, WAIT)                                                                          \
	CRIT_GOMP_EXPORT int name(void *lock);                                                     \
	int name(void *lock)                                                                       \
	{                                                                                          \
		const bool is_on = crit_gomp_is_on();                                              \
		const int answer = CRIT_GOMP_NEXT(name)(lock);                                     \
                                                                                                   \
		if (is_on && answer) {                                                             \
			crit_gomp_begin(WAIT, CRIT_GOMP_CALL_SITE, (uintptr_t)lock);               \
			take(WAIT, lock);                                                          \
		}                                                                                  \
		return answer;                                                                     \
	}

LOCKS(omp_set_lock, PLAIN)
LOCKS(omp_set_lock_, PLAIN)
LOCKS(omp_set_nest_lock, NEST)
LOCKS(omp_set_nest_lock_, NEST)
UNLOCKS(omp_unset_lock, PLAIN)
UNLOCKS(omp_unset_lock_, PLAIN)
UNLOCKS(omp_unset_nest_lock, NEST)
UNLOCKS(omp_unset_nest_lock_, NEST)
TRIES(omp_test_lock, PLAIN)
TRIES(omp_test_lock_, PLAIN)
TRIES(omp_test_nest_lock, NEST)
TRIES(omp_test_nest_lock_, NEST)
