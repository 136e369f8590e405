// SPDX-License-Identifier: BSD-3-Clause
// Compares the calls that ranks are in when they end.
#include "analysis/table/standstill.h"

#include "analysis/table/efficiency.h"

#define MOST_OF_SILENT 1.05 /* threads that wait look round now and then */

/*
 * Threads of the ranks may be active meanwhile, while the main threads wait.  Where these are all,
 * they may still want a CPU between two polls: then what counts is whether they computed.
 */
static bool is_active(const struct crit_results *results, const struct crit_rank_row *ranks,
		      size_t count, double s, uint64_t silent_ns)
{
	const double left_s = 1e-9 * (double)results->window_ns - s / MOST_OF_SILENT;

	if (s <= MOST_OF_SILENT * 1e-9 * (double)silent_ns)
		return false;
	for (size_t i = 0; i < count; i++) {
		struct crit_usage usage;

		crit_usage_of(&ranks[i].cells, &usage);
		if (ranks[i].app_threads != 1 || 1e-9 * (double)usage.useful_ns > left_s)
			return true;
	}
	return false;
}

/* How long the ranks of a world stand still, s. */
static double duration_of(const struct crit_rank_row *ranks, size_t count)
{
	uint64_t since_ns = 0, until_ns = UINT64_MAX;

	if (count < ranks->world_size)
		return 0;
	for (size_t i = 0; i < count; i++) {
		const struct crit_rank_row *rank = &ranks[i];
		const uint64_t begin_ns = rank->is_open ? rank->last_call.since_ns : rank->close_ns;

		if (rank->is_open && !rank->last_call.call)
			return 0;
		if (rank->is_open && rank->close_ns < until_ns)
			until_ns = rank->close_ns;
		if (begin_ns > since_ns)
			since_ns = begin_ns;
	}
	return until_ns < UINT64_MAX && until_ns > since_ns ? 1e-9 * (double)(until_ns - since_ns)
							    : 0;
}

struct crit_standstill crit_standstill_of(const struct crit_results *results, uint64_t silent_ns)
{
	struct crit_standstill longest = { 0 };
	size_t end;

	for (size_t first = 0; first < results->rank_count; first = end) {
		double s;

		for (end = first + 1;
		     end < results->rank_count &&
		     results->ranks[end].world_number == results->ranks[first].world_number;)
			end++;
		s = duration_of(&results->ranks[first], end - first);
		if (s > longest.s &&
		    !is_active(results, &results->ranks[first], end - first, s, silent_ns))
			longest = (struct crit_standstill){ first, end, s };
	}
	return longest;
}
