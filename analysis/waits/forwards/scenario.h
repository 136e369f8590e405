/* SPDX-License-Identifier: BSD-3-Clause */
/* What is changed in a run that is played again, and times in several such runs at once. */
#ifndef CRIT_WAITS_SCENARIO_H
#define CRIT_WAITS_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct crit_factor {
	uint32_t numerator, denominator; /* denominator above 0 */
};

struct crit_scenario {
	const struct crit_factor *factors; /* of each bucket; NULL: nothing changes */
	bool is_without_transfer; /* where a wait needs acts of the run, it ends with the last */
	const struct crit_factor *queue_factors; /* of each thread without a CPU; NULL: it stays */
};

/* A time of so many ns, times the factor. */
static inline uint64_t crit_factor_scale(const struct crit_factor *factor, uint64_t ns)
{
	if (factor->numerator == factor->denominator)
		return ns;
	if (ns <= UINT32_MAX)
		return ns * factor->numerator / factor->denominator;
	return (uint64_t)((unsigned __int128)ns * factor->numerator / factor->denominator);
}

/* The transfer of a wait that needs acts of the run, of which the thread had no CPU for some ns. */
static inline uint64_t crit_scenario_transfer(const struct crit_scenario *scenario, uint32_t thread,
					      uint64_t transfer_ns, uint64_t queued_ns)
{
	if (scenario->is_without_transfer)
		return 0;
	if (!scenario->queue_factors || !queued_ns)
		return transfer_ns;
	return transfer_ns - queued_ns +
	       crit_factor_scale(&scenario->queue_factors[thread], queued_ns);
}

/* Times in so many scenarios: none is before the other one, which comes so much later. */
static inline void crit_times_raise(uint64_t *times_ns, const uint64_t *others_ns,
				    uint64_t later_ns, size_t count)
{
	for (size_t k = 0; k < count; k++) {
		const uint64_t other_ns = others_ns[k] + later_ns;

		times_ns[k] = other_ns > times_ns[k] ? other_ns : times_ns[k];
	}
}

#endif
