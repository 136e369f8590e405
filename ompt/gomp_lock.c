// SPDX-License-Identifier: BSD-3-Clause
// Wrappers of the locks of libgomp: the wait for one is a span, that it is released a note; they
// need not nest.
#include "ompt/gomp_parallel.h"

#include <stddef.h>

/* A lock that is got at once, by trying, is one that was waited for no time. */
static void try(uint32_t wait, const void *site, const void *lock)
{
	crit_gomp_begin(wait, site, (uintptr_t)lock);
	crit_shim_construct_end(wait);
}

#define LOCKS(name)                                                                                \
	CRIT_GOMP_EXPORT void name(void *lock);                                                    \
	void name(void *lock)                                                                      \
	{                                                                                          \
		const bool is_on = crit_gomp_is_on();                                              \
                                                                                                   \
		if (is_on)                                                                         \
			crit_gomp_begin(CRIT_CONSTRUCT_LOCK_WAIT, CRIT_GOMP_CALL_SITE,             \
					(uintptr_t)lock);                                          \
		CRIT_GOMP_NEXT(name)(lock);                                                        \
		if (is_on)                                                                         \
			crit_shim_construct_end(CRIT_CONSTRUCT_LOCK_WAIT);                         \
	}

#define UNLOCKS(name)                                                                              \
	CRIT_GOMP_EXPORT void name(void *lock);                                                    \
	void name(void *lock)                                                                      \
	{                                                                                          \
		if (crit_gomp_is_on())                                                             \
			crit_shim_construct_release(CRIT_CONSTRUCT_LOCK_WAIT, (uintptr_t)lock);    \
		CRIT_GOMP_NEXT(name)(lock);                                                        \
	}

#define TRIES(name)                                                                                \
	CRIT_GOMP_EXPORT int name(void *lock);                                                     \
	int name(void *lock)                                                                       \
	{                                                                                          \
		const bool is_on = crit_gomp_is_on();                                              \
		const int answer = CRIT_GOMP_NEXT(name)(lock);                                     \
                                                                                                   \
		if (is_on && answer)                                                               \
			try(CRIT_CONSTRUCT_LOCK_WAIT, CRIT_GOMP_CALL_SITE, lock);                  \
		return answer;                                                                     \
	}

LOCKS(omp_set_lock)
LOCKS(omp_set_lock_)
UNLOCKS(omp_unset_lock)
UNLOCKS(omp_unset_lock_)
TRIES(omp_test_lock)
TRIES(omp_test_lock_)

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

static void take(const void *lock)
{
	struct held *row = find(lock);

	if (!row)
		return;
	row->lock = lock;
	row->depth++;
}

/* Is that its last release? */
static bool give_back(const void *lock)
{
	struct held *row = find(lock);

	if (!row || !row->depth)
		return true;
	row->depth--;
	return !row->depth;
}

#define NEST_LOCKS(name)                                                                           \
	CRIT_GOMP_EXPORT void name(void *lock);                                                    \
	void name(void *lock)                                                                      \
	{                                                                                          \
		const bool is_on = crit_gomp_is_on();                                              \
                                                                                                   \
		if (is_on)                                                                         \
			crit_gomp_begin(CRIT_CONSTRUCT_NEST_LOCK_WAIT, CRIT_GOMP_CALL_SITE,        \
					(uintptr_t)lock);                                          \
		CRIT_GOMP_NEXT(name)(lock);                                                        \
		if (!is_on)                                                                        \
			return;                                                                    \
		take(lock);                                                                        \
		crit_shim_construct_end(CRIT_CONSTRUCT_NEST_LOCK_WAIT);                            \
	}

#define NEST_UNLOCKS(name)                                                                         \
	CRIT_GOMP_EXPORT void name(void *lock);                                                    \
	void name(void *lock)                                                                      \
	{                                                                                          \
		if (crit_gomp_is_on() && give_back(lock))                                          \
			crit_shim_construct_release(CRIT_CONSTRUCT_NEST_LOCK_WAIT,                 \
						    (uintptr_t)lock);                              \
		CRIT_GOMP_NEXT(name)(lock);                                                        \
	}

#define NEST_TRIES(name)                                                                           \
	CRIT_GOMP_EXPORT int name(void *lock);                                                     \
	int name(void *lock)                                                                       \
	{                                                                                          \
		const bool is_on = crit_gomp_is_on();                                              \
		const int answer = CRIT_GOMP_NEXT(name)(lock);                                     \
                                                                                                   \
		if (is_on && answer) {                                                             \
			take(lock);                                                                \
			try(CRIT_CONSTRUCT_NEST_LOCK_WAIT, CRIT_GOMP_CALL_SITE, lock);             \
		}                                                                                  \
		return answer;                                                                     \
	}

NEST_LOCKS(omp_set_nest_lock)
NEST_LOCKS(omp_set_nest_lock_)
NEST_UNLOCKS(omp_unset_nest_lock)
NEST_UNLOCKS(omp_unset_nest_lock_)
NEST_TRIES(omp_test_nest_lock)
NEST_TRIES(omp_test_nest_lock_)
