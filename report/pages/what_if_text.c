// SPDX-License-Identifier: BSD-3-Clause
// Prints how much sooner a run would end with changes of its code.
#include "report/pages/what_if_text.h"

#include <math.h>

#include "report/fixes/fix_words.h"
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

/* Where threads share CPUs, one that works less leaves the others more: that is played apart. */
static void write_sharing(FILE *out, const struct crit_fix_table *table,
			  const struct crit_summary *summary)
{
	const struct crit_lost_time *lost = &summary->lost;
	double cpus;

	if (table->is_on_cpus || !lost->is_valid || lost->threads_per_cpu <= 0)
		return;
	cpus = crit_lost_time_cpus(&summary->results->nodes[lost->crowded_node]);
	if ((double)lost->crowded_threads <= cpus)
		return;
	fprintf(out,
		"  %zu threads share %g CPU%s, and each is without one as long as it was: with "
		"--cpus=%.0f a CPU that a change\n"
		"  leaves free goes to the others, so the gain can be larger\n",
		lost->crowded_threads, cpus, cpus > 1 ? "s" : "", fmax(cpus, 1));
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
	write_sharing(out, table, summary);
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
