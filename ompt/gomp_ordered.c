// SPDX-License-Identifier: BSD-3-Clause
// Wrappers of what libgomp does in turn: the blocks of ordered loops.
//
// A thread's turn begins with its block, and is over when it asks for its next iterations: what its
// present ones do after the block, the others wait for as well.  Who asks without having had a
// block waits for its turn there.
#include "ompt/gomp_parallel.h"

#include <stddef.h>

CRIT_GOMP_EXPORT void GOMP_ordered_start(void);
CRIT_GOMP_EXPORT void GOMP_ordered_end(void);

void GOMP_ordered_start(void)
{
	const bool is_on = crit_gomp_is_on();
	struct crit_gomp_turn *turn = crit_gomp_turn();

	if (is_on)
		crit_gomp_begin(CRIT_CONSTRUCT_ORDERED_WAIT, CRIT_GOMP_CALL_SITE,
				turn->is_had ? 0 : turn->of);
	CRIT_GOMP_NEXT(GOMP_ordered_start)();
	if (!is_on)
		return;
	turn->is_had = true;
	crit_shim_construct_next(CRIT_CONSTRUCT_ORDERED_WAIT, CRIT_CONSTRUCT_ORDERED,
				 crit_shim_region_now(), CRIT_GOMP_CALL_SITE, 0);
}

void GOMP_ordered_end(void)
{
	if (crit_gomp_is_on())
		crit_shim_construct_end(CRIT_CONSTRUCT_ORDERED);
	CRIT_GOMP_NEXT(GOMP_ordered_end)();
}

/* Yields whether the turn has to come first. */
static bool begin_next(const void *site)
{
	struct crit_gomp_turn *turn = crit_gomp_turn();

	if (!turn->is_had)
		crit_gomp_begin(CRIT_CONSTRUCT_ORDERED_WAIT, site, turn->of);
	else if (turn->of)
		crit_shim_construct_release(CRIT_CONSTRUCT_ORDERED_WAIT, turn->of);
	return !turn->is_had;
}

static void end_next(bool has_waited)
{
	struct crit_gomp_turn *turn = crit_gomp_turn();

	turn->is_had = false;
	if (has_waited && turn->of)
		crit_shim_construct_end_and_release(CRIT_CONSTRUCT_ORDERED_WAIT,
						    CRIT_CONSTRUCT_ORDERED_WAIT, turn->of);
	else if (has_waited)
		crit_shim_construct_end(CRIT_CONSTRUCT_ORDERED_WAIT);
}

/* The next iterations, from *first on; false: there are none. */
#define NEXT_OF(name, type)                                                                        \
	CRIT_GOMP_EXPORT bool name(type first, type end);                                          \
	bool name(type first, type end)                                                            \
	{                                                                                          \
		const bool is_on = crit_gomp_is_on();                                              \
		const bool waits = is_on && begin_next(CRIT_GOMP_CALL_SITE);                       \
		const bool answer = CRIT_GOMP_NEXT(name)(first, end);                              \
                                                                                                   \
		if (is_on)                                                                         \
			end_next(waits);                                                           \
		return answer;                                                                     \
	}

NEXT_OF(GOMP_loop_ordered_static_next, long *)
NEXT_OF(GOMP_loop_ordered_dynamic_next, long *)
NEXT_OF(GOMP_loop_ordered_guided_next, long *)
NEXT_OF(GOMP_loop_ordered_runtime_next, long *)
NEXT_OF(GOMP_loop_ull_ordered_static_next, unsigned long long *)
NEXT_OF(GOMP_loop_ull_ordered_dynamic_next, unsigned long long *)
NEXT_OF(GOMP_loop_ull_ordered_guided_next, unsigned long long *)
NEXT_OF(GOMP_loop_ull_ordered_runtime_next, unsigned long long *)
