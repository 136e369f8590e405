// SPDX-License-Identifier: BSD-3-Clause
// Prints how much sooner a run would end with changes of its code.
#include "report/pages/what_if_text.h"

#include "report/causes/fix_words.h"
#include "report/formats/row_writer.h"

/* Waits that another act could have ended. */
static void write_free(FILE *out, const struct crit_fix_table *table)
{
	uint64_t count = 0;

	for (int why = 0; why < CRIT_FREE_COUNT; why++)
		count += table->free_waits[why];
	if (!count)
		return;
	fprintf(out,
		"  order could change for %.1f%% of %llu waits, which are played as recorded: ",
		100 * (double)count / (double)table->wait_count,
		(unsigned long long)table->wait_count);
	for (int why = 0, said = 0; why < CRIT_FREE_COUNT; why++) {
		if (!table->free_waits[why])
			continue;
		fprintf(out, "%s%llu for %s", said++ ? ", " : "",
			(unsigned long long)table->free_waits[why],
			crit_fix_free_words((enum crit_free_order)why));
	}
	(void)fputc('\n', out);
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
	crit_fix_even_write(out, table);
	crit_fix_causeless_write(out, table->costs);
	write_free(out, table);
	if (table->inside_count)
		fprintf(out, "  %llu act%s inside other waits: their times are less certain\n",
			(unsigned long long)table->inside_count,
			table->inside_count == 1 ? " lies" : "s lie");
	if (table->circle_count)
		fprintf(out, "  %llu act%s one another: taken in the order they were told\n",
			(unsigned long long)table->circle_count,
			table->circle_count == 1 ? " needs" : "s need");
}
