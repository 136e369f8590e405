// SPDX-License-Identifier: BSD-3-Clause
// Changes of a program in words.
#include "report/fixes/fix_words.h"

#include "core/base/call.h"

#define MUCH_OF_WAITING 0.05 /* of which no cause is known, */
#define MUCH_OF_WINDOW 0.01 /* and of the run */
#define WORTH_A_CHANGE 0.02 /* of the run: less than that does not stand out */

static const char fix_mark[] = "; locks: order could change";
#define FIX_MARK_BYTES ((int)sizeof(fix_mark))

static const char *units_of(const struct crit_results *results, uint32_t count)
{
	if (results->rank_count)
		return count == 1 ? "rank" : "ranks";
	return count == 1 ? "thread" : "threads";
}

static const char *change_text(const struct crit_fix_row *row, const struct crit_results *results,
			       char text[CRIT_FIX_BYTES])
{
	char what[CRIT_CAUSE_WHAT_BYTES];
	const char *units = units_of(results, row->unit_count);

	switch (row->kind) {
	case CRIT_FIX_FASTER:
		(void)snprintf(text, CRIT_FIX_BYTES, "%u%% less time %s, on %u %s", row->percent,
			       crit_code_place_text(row->place, what), row->unit_count, units);
		return text;
	case CRIT_FIX_BALANCED:
		(void)snprintf(text, CRIT_FIX_BYTES, "balance the time %s over its %u %s",
			       crit_code_place_text(row->place, what), row->unit_count, units);
		return text;
	case CRIT_FIX_ALL_BALANCED:
		(void)snprintf(text, CRIT_FIX_BYTES, "balance all code over the %s",
			       units_of(results, 2));
		return text;
	case CRIT_FIX_NO_TRANSFER:
		return "waits that end as soon as all they need is done";
	case CRIT_FIX_NO_OVERSUBSCRIPTION:
		return "enough CPUs: no thread of the run takes another's";
	case CRIT_FIX_NO_PREEMPTION:
		return "nobody else on the run's CPUs";
	default:
		return "what was asked for";
	}
}

const char *crit_fix_text(const struct crit_fix_row *row, const struct crit_results *results,
			  char text[CRIT_FIX_BYTES])
{
	char room[CRIT_FIX_BYTES];

	(void)snprintf(text, CRIT_FIX_BYTES, "%.*s%s", CRIT_FIX_BYTES - FIX_MARK_BYTES,
		       change_text(row, results, room), row->order_changes ? fix_mark : "");
	return text;
}

/* Nothing of a single place makes up for another one, as far as it is known who waits for whom. */
void crit_fix_even_write(FILE *out, const struct crit_fix_table *table)
{
	const struct crit_costs *costs = table->costs;
	const struct crit_fix_row *best = NULL;

	if (crit_fix_is_unsure(costs)) {
		fprintf(out,
			"  the cause of %.1f%% of the waiting (%.3f s) is not known: balanced code "
			"may gain more than foretold\n",
			100 * (double)costs->endless_ns / (double)costs->waiting,
			1e-9 * (double)costs->endless_ns);
		return;
	}
	for (size_t i = 0; i < table->row_count; i++) {
		if (table->rows[i].kind == CRIT_FIX_BALANCED &&
		    (!best || table->rows[i].gain_ns > best->gain_ns))
			best = &table->rows[i];
	}
	if (best && best->share < WORTH_A_CHANGE)
		fprintf(out, "  nothing stands out to balance: best single fix at most %.1f%%\n",
			best->gain_ns > 0 ? 100 * best->share : 0);
}

void crit_fix_causeless_write(FILE *out, const struct crit_costs *costs)
{
	const double share =
		costs && costs->waiting ? (double)costs->actless_ns / (double)costs->waiting : 0;

	if (share < MUCH_OF_WAITING ||
	    (double)costs->actless_ns < MUCH_OF_WINDOW * (double)costs->window_ns)
		return;
	fprintf(out,
		"  of %.1f%% of the waiting (%.3f s, most of it in %s) no cause is known:\n"
		"  it counts in its call, or as want of a CPU there, and lasts as long with any "
		"change of code, so gains can be\n"
		"  larger than foretold\n",
		100 * share, 1e-9 * (double)costs->actless_ns,
		costs->actless_most_call == CRIT_CODE_IDLE
			? "idle time of OpenMP"
			: crit_call_name(costs->actless_most_call));
}

const char *crit_fix_free_words(enum crit_free_order why)
{
	static const char *const words[CRIT_FREE_COUNT] = {
		[CRIT_FREE_LOCK] = "locks",
		[CRIT_FREE_SOURCE] = "messages of any source",
		[CRIT_FREE_REQUEST] = "any of several requests",
		[CRIT_FREE_TASK] = "tasks",
	};

	return words[why];
}

const char *crit_fix_kind_name(enum crit_fix_kind kind)
{
	static const char *const names[CRIT_FIX_KIND_COUNT] = {
		[CRIT_FIX_FASTER] = "faster",
		[CRIT_FIX_BALANCED] = "balanced",
		[CRIT_FIX_ALL_BALANCED] = "all_balanced",
		[CRIT_FIX_NO_TRANSFER] = "no_transfer",
		[CRIT_FIX_NO_QUEUEING] = "no_queueing",
		[CRIT_FIX_NO_OVERSUBSCRIPTION] = "no_oversubscription",
		[CRIT_FIX_NO_PREEMPTION] = "no_preemption",
		[CRIT_FIX_WISHES] = "wishes",
	};

	return names[kind];
}
