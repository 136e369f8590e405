// SPDX-License-Identifier: BSD-3-Clause
// Prints how much sooner a run would end with changes of its code.
#include "report/pages/what_if_text.h"

#include "core/base/line.h"
#include "report/causes/cause_words.h"

#define WORTH_A_CHANGE 0.02 /* of the run: less than that does not stand out */

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
		(void)snprintf(text, CRIT_FIX_BYTES, "balance %s over its %u %s",
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

static double share_of(const struct crit_fix_table *table, const struct crit_fix_row *row)
{
	return table->recorded_ns ? (double)row->gain_ns / (double)table->recorded_ns : 0;
}

/* A run whose ranks work alike: nothing of a single place makes up for another one. */
static void write_even(FILE *out, const struct crit_fix_table *table)
{
	const struct crit_fix_row *best = NULL;

	for (size_t i = 0; i < table->row_count; i++) {
		if (table->rows[i].kind == CRIT_FIX_BALANCED &&
		    (!best || table->rows[i].gain_ns > best->gain_ns))
			best = &table->rows[i];
	}
	if (best && share_of(table, best) < WORTH_A_CHANGE)
		fprintf(out,
			"  no imbalance stands out: to balance a single place gains at most "
			"%.1f%%\n",
			best->gain_ns > 0 ? 100 * share_of(table, best) : 0);
}

void crit_what_if_text_write(FILE *out, const struct crit_fix_table *table,
			     const struct crit_results *results)
{
	char text[CRIT_FIX_BYTES];

	fprintf(out,
		"crit what-if: the last thread ends after %.6f s; how much sooner with a change\n"
		"  gain = of that; time = that all spend there; a wait ends when all that it needs "
		"is done, and then\n"
		"  lasts as it did; who gets a lock, a task or a message from anybody stays as it "
		"was\n"
		"      gain s  share      time s  change\n",
		1e-9 * (double)table->recorded_ns);
	for (size_t i = 0; i < table->row_count; i++) {
		const struct crit_fix_row *row = &table->rows[i];

		crit_line_print(out, "%12.6f %5.1f%% %11.6f  %s\n", 1e-9 * (double)row->gain_ns,
				100 * share_of(table, row), 1e-9 * (double)row->ns,
				crit_fix_text(row, results, text));
	}
	write_even(out, table);
	if (table->inside_count)
		fprintf(out, "  %llu acts lie inside other waits: their times are less certain\n",
			(unsigned long long)table->inside_count);
	if (table->circle_count)
		fprintf(out, "  %llu acts need one another: taken in the order they were told\n",
			(unsigned long long)table->circle_count);
}
