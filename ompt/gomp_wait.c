// SPDX-License-Identifier: BSD-3-Clause
// Wrappers of the waits of libgomp: barriers, ends of loops and sections, taskwait, critical code.
#include "ompt/gomp_parallel.h"

#include <stddef.h>

/* Each waits and returns nothing, something, or takes one argument. */
#define WAITS(name, CONSTRUCT)                                                                     \
	CRIT_GOMP_EXPORT void name(void);                                                          \
	void name(void)                                                                            \
	{                                                                                          \
		const bool is_on = crit_gomp_is_on();                                              \
                                                                                                   \
		if (is_on)                                                                         \
			crit_gomp_begin(CRIT_CONSTRUCT_##CONSTRUCT, CRIT_GOMP_CALL_SITE, 0);       \
		CRIT_GOMP_NEXT(name)();                                                            \
		if (is_on)                                                                         \
			crit_shim_construct_end(CRIT_CONSTRUCT_##CONSTRUCT);                       \
	}

#define WAITS_AND_ANSWERS(type, name, CONSTRUCT)                                                   \
	CRIT_GOMP_EXPORT type name(void);                                                          \
	type name(void)                                                                            \
	{                                                                                          \
		const bool is_on = crit_gomp_is_on();                                              \
		type answer;                                                                       \
                                                                                                   \
		if (is_on)                                                                         \
			crit_gomp_begin(CRIT_CONSTRUCT_##CONSTRUCT, CRIT_GOMP_CALL_SITE, 0);       \
		answer = CRIT_GOMP_NEXT(name)();                                                   \
		if (is_on)                                                                         \
			crit_shim_construct_end(CRIT_CONSTRUCT_##CONSTRUCT);                       \
		return answer;                                                                     \
	}

#define WAITS_FOR(name, type, CONSTRUCT)                                                           \
	CRIT_GOMP_EXPORT void name(type what);                                                     \
	void name(type what)                                                                       \
	{                                                                                          \
		const bool is_on = crit_gomp_is_on();                                              \
                                                                                                   \
		if (is_on)                                                                         \
			crit_gomp_begin(CRIT_CONSTRUCT_##CONSTRUCT, CRIT_GOMP_CALL_SITE, 0);       \
		CRIT_GOMP_NEXT(name)(what);                                                        \
		if (is_on)                                                                         \
			crit_shim_construct_end(CRIT_CONSTRUCT_##CONSTRUCT);                       \
	}

WAITS(GOMP_barrier, BARRIER)
WAITS(GOMP_loop_end, IMPLICIT_BARRIER)
WAITS(GOMP_sections_end, IMPLICIT_BARRIER)
WAITS(GOMP_taskwait, TASKWAIT)
WAITS(GOMP_taskgroup_end, TASKGROUP)
WAITS_AND_ANSWERS(bool, GOMP_barrier_cancel, BARRIER)
WAITS_AND_ANSWERS(bool, GOMP_loop_end_cancel, IMPLICIT_BARRIER)
WAITS_AND_ANSWERS(bool, GOMP_sections_end_cancel, IMPLICIT_BARRIER)
WAITS_AND_ANSWERS(void *, GOMP_single_copy_start, IMPLICIT_BARRIER) /* for what one has read */
WAITS_FOR(GOMP_single_copy_end, void *, IMPLICIT_BARRIER)
WAITS_FOR(GOMP_taskwait_depend, void **, TASKWAIT)
WAITS_FOR(GOMP_workshare_task_reduction_unregister, bool, IMPLICIT_BARRIER)

/* Of the one critical section without a name, and of all atomic operations that need a lock. */
static char unnamed, atomics;

static void enter(uint32_t wait, uint32_t inside, const void *site)
{
	if (inside)
		crit_shim_construct_next(wait, inside, crit_shim_region_now(), site, 0);
	else
		crit_shim_construct_end(wait);
}

static void leave(uint32_t wait, uint32_t inside, const void *lock)
{
	if (inside)
		crit_shim_construct_end_and_release(inside, wait, (uintptr_t)lock);
	else
		crit_shim_construct_release(wait, (uintptr_t)lock);
}

#define NAMELESS(start, end, WAIT, inside, lock)                                                   \
	CRIT_GOMP_EXPORT void start(void);                                                         \
	void start(void)                                                                           \
	{                                                                                          \
		const bool is_on = crit_gomp_is_on();                                              \
                                                                                                   \
		if (is_on)                                                                         \
			crit_gomp_begin(CRIT_CONSTRUCT_##WAIT, CRIT_GOMP_CALL_SITE,                \
					(uintptr_t)(lock));                                        \
		CRIT_GOMP_NEXT(start)();                                                           \
		if (is_on)                                                                         \
			enter(CRIT_CONSTRUCT_##WAIT, inside, CRIT_GOMP_CALL_SITE);                 \
	}                                                                                          \
	CRIT_GOMP_EXPORT void end(void);                                                           \
	void end(void)                                                                             \
	{                                                                                          \
		if (crit_gomp_is_on())                                                             \
			leave(CRIT_CONSTRUCT_##WAIT, inside, lock);                                \
		CRIT_GOMP_NEXT(end)();                                                             \
	}

NAMELESS(GOMP_critical_start, GOMP_critical_end, CRITICAL_WAIT, CRIT_CONSTRUCT_CRITICAL, &unnamed)
NAMELESS(GOMP_atomic_start, GOMP_atomic_end, ATOMIC_WAIT, 0, &atomics)

CRIT_GOMP_EXPORT void GOMP_critical_name_start(void **name);
CRIT_GOMP_EXPORT void GOMP_critical_name_end(void **name);

void GOMP_critical_name_start(void **name)
{
	const bool is_on = crit_gomp_is_on();

	if (is_on)
		crit_gomp_begin(CRIT_CONSTRUCT_CRITICAL_WAIT, CRIT_GOMP_CALL_SITE, (uintptr_t)name);
	CRIT_GOMP_NEXT(GOMP_critical_name_start)(name);
	if (is_on)
		enter(CRIT_CONSTRUCT_CRITICAL_WAIT, CRIT_CONSTRUCT_CRITICAL, CRIT_GOMP_CALL_SITE);
}

void GOMP_critical_name_end(void **name)
{
	if (crit_gomp_is_on())
		leave(CRIT_CONSTRUCT_CRITICAL_WAIT, CRIT_CONSTRUCT_CRITICAL, name);
	CRIT_GOMP_NEXT(GOMP_critical_name_end)(name);
}
