// SPDX-License-Identifier: BSD-3-Clause
// Prints how much sooner a run would end with changes of its code.
#include "report/pages/what_if_text.h"

#include "report/formats/row_writer.h"

#define WORTH_A_CHANGE 0.02 /* of the run: less than that does not stand out */

/* A run whose ranks work alike: nothing of a single place makes up for another one. */
static void write_even(FILE *out, const struct crit_fix_table *table)
{
	const struct crit_fix_row *best = NULL;

	for (size_t i = 0; i < table->row_count; i++) {
		if (table->rows[i].kind == CRIT_FIX_BALANCED &&
		    (!best || table->rows[i].gain_ns > best->gain_ns))
			best = &table->rows[i];
	}
	if (best && best->share < WORTH_A_CHANGE)
		fprintf(out,
			"  no imbalance stands out: to balance a single place gains at most "
			"%.1f%%\n",
			best->gain_ns > 0 ? 100 * best->share : 0);
}

void crit_what_if_text_write(FILE *out, const struct crit_fix_table *table,
			     const struct crit_summary *summary)
{
	fprintf(out,
		"crit what-if: the last thread ends after %.6f s; how much sooner with a change\n"
		"  gain = of that; time = that all spend there, in a function by samples; a wait "
		"ends when all that it\n"
		"  needs is done, and then lasts as it did; who gets a lock, a task or a message "
		"from anybody stays as it was\n",
		1e-9 * (double)table->recorded_ns);
	crit_rows_text(out, summary, CRIT_TABLE_FIXES,
		       &(struct crit_rows){ .at = table->rows,
					    .count = table->row_count,
					    .max = table->row_count });
	write_even(out, table);
	if (table->inside_count)
		fprintf(out, "  %llu acts lie inside other waits: their times are less certain\n",
			(unsigned long long)table->inside_count);
	if (table->circle_count)
		fprintf(out, "  %llu acts need one another: taken in the order they were told\n",
			(unsigned long long)table->circle_count);
}
