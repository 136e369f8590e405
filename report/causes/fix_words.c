// SPDX-License-Identifier: BSD-3-Clause
// Changes of a program in words.
#include "report/causes/fix_words.h"

#include <stdio.h>

static const char *units_of(const struct crit_results *results, uint32_t count)
{
	if (results->rank_count)
		return count == 1 ? "rank" : "ranks";
	return count == 1 ? "thread" : "threads";
}

const char *crit_fix_text(const struct crit_fix_row *row, const struct crit_results *results,
			  char text[CRIT_FIX_BYTES])
{
	char what[CRIT_CAUSE_WHAT_BYTES];
	const char *units = units_of(results, row->unit_count);

	switch (row->kind) {
	case CRIT_FIX_FASTER:
		(void)snprintf(text, CRIT_FIX_BYTES, "%u%% less time %s, on %u %s", row->percent,
			       crit_cause_what(&row->place, what), row->unit_count, units);
		return text;
	case CRIT_FIX_BALANCED:
		(void)snprintf(text, CRIT_FIX_BYTES, "balance the time %s over its %u %s",
			       crit_cause_what(&row->place, what), row->unit_count, units);
		return text;
	case CRIT_FIX_ALL_BALANCED:
		(void)snprintf(text, CRIT_FIX_BYTES, "balance all code over the %s",
			       units_of(results, 2));
		return text;
	case CRIT_FIX_NO_TRANSFER:
		return "waits that end as soon as all they need is done";
	default:
		return "what was asked for";
	}
}

const char *crit_fix_kind_name(enum crit_fix_kind kind)
{
	static const char *const names[CRIT_FIX_KIND_COUNT] = {
		[CRIT_FIX_FASTER] = "faster",
		[CRIT_FIX_BALANCED] = "balanced",
		[CRIT_FIX_ALL_BALANCED] = "all_balanced",
		[CRIT_FIX_NO_TRANSFER] = "no_transfer",
		[CRIT_FIX_WISHES] = "wishes",
	};

	return names[kind];
}
