/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arithmetic of the metric: 64.64 fixed point, exact to 2^-64 per step.
 *
 * dt / n is computed as dt * floor(2^64 / n).  The factor depends on n alone, so cutting dt
 * anywhere, at a grid line or where another process takes over, gives the same sum bit for bit:
 * the fixed grid of the design is where work may be split, not something the arithmetic has to
 * know.
 */
#ifndef CRIT_METRIC_H
#define CRIT_METRIC_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/schema/results.h"

/* floor(2^64 / count) in 64.64.  Range: count at least 1. */
static inline crit_fix crit_metric_reciprocal(uint32_t count)
{
	uint64_t whole;

	if (count == 1)
		return (crit_fix)1 << 64;
	whole = UINT64_MAX / count;
	return whole + (UINT64_MAX % count == count - 1u);
}

/*
 * value * factor, factor in 64.64 and at most 1.
 * Range: the product is rounded down to 2^-64, twice at most.  Cost: two multiplications.
 */
static inline crit_fix crit_metric_scale(crit_fix value, crit_fix factor)
{
	uint64_t fraction = (uint64_t)factor;

	if (factor >> 64)
		return value;
	return (crit_fix)(uint64_t)(value >> 64) * fraction +
	       (((crit_fix)(uint64_t)value * fraction) >> 64);
}

/*
 * Is a thread in this state and span active?  Range: any values; unknown ones are not.
 * Source: GAPP, ICPE'20, section 2.1 (running or runnable), less the spans that wait by spinning.
 */
bool crit_metric_is_active(enum crit_active_rule rule, enum crit_kernel_state state,
			   enum crit_span_class span_class);

/* Does this class wait, by the default rule?  What call rows report as waiting time. */
static inline bool crit_metric_is_waiting_class(enum crit_span_class span_class)
{
	const unsigned int waiting = 1u << CRIT_CLASS_MPI_MAY_WAIT | 1u << CRIT_CLASS_MPI_POLL |
				     1u << CRIT_CLASS_MPI_WAIT | 1u << CRIT_CLASS_OMP_WAIT |
				     1u << CRIT_CLASS_OMP_IDLE;

	return waiting >> span_class & 1;
}

#endif
