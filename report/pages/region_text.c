// SPDX-License-Identifier: BSD-3-Clause
// Regions, phases and preemptions in the tables of report.txt, and names for threads.
#include "report/pages/region_text.h"

#include <stdio.h>

#include "report/formats/row_writer.h"
#include "report/tables/labels.h"
#include "core/base/line.h"

#define REGIONS_MAX 24
#define THREADS_MAX 16
#define PREEMPTORS_MAX 24

static void write_spread(FILE *out, const char *unit, const struct crit_imbalance *imbalance,
			 const char *slowest)
{
	if (imbalance->count < 2 || imbalance->slowest < 0)
		return;
	crit_line_print(
		out,
		"    useful time of %zu %s: largest %.4f (%s), mean %.4f, imbalance %.1f%%, "
		"variation %.3f\n",
		imbalance->count, unit, imbalance->max_s, slowest, imbalance->mean_s,
		imbalance->percent, imbalance->variation_ratio);
}

static void write_line(FILE *out, const struct crit_summary *summary,
		       const struct crit_region_line *line)
{
	const struct crit_results *results = summary->results;
	struct crit_region_share all = { .sum = line->sum };
	struct crit_row row = { .summary = summary, .at = &all, .label = "all" };
	char text[4 * CRIT_REGION_TEXT];
	char rank[32];

	crit_line_print(out, "  %s\n",
			crit_region_path(&summary->regions, line, text, sizeof(text)));
	all.sum.visits = line->visits;
	crit_text_row(out, "    ", &row, CRIT_TABLE_SHARES);
	for (size_t i = 0; i < line->share_count && i < THREADS_MAX; i++) {
		row = CRIT_ROW(summary, &summary->regions.shares[line->first_share + i]);
		crit_text_row(out, "    ", &row, CRIT_TABLE_SHARES);
	}
	if (line->share_count > THREADS_MAX)
		fprintf(out, "    and %zu more threads in regions.csv\n",
			line->share_count - THREADS_MAX);
	write_spread(out, "threads", &line->threads,
		     crit_thread_label(results, (size_t)line->threads.slowest, text, sizeof(text)));
	(void)snprintf(text, sizeof(text), "rank %s",
		       crit_rank_label(results, line->ranks.slowest, rank, sizeof(rank)));
	write_spread(out, "ranks", &line->ranks, text);
}

void crit_region_text_write(FILE *out, const struct crit_summary *summary)
{
	const struct crit_region_table *table = &summary->regions;

	if (table->row_count == 0)
		return;
	fprintf(out, "\nRegions (unit threads, scope run)\n"
		     "  by CMetric; regions inside a region apart; visits of a parallel region are "
		     "its teams\n");
	crit_text_head(out, "    ", CRIT_TABLE_SHARES);
	for (size_t i = 0; i < table->row_count && i < REGIONS_MAX; i++)
		write_line(out, summary, &table->rows[table->order[i]]);
	if (table->row_count > REGIONS_MAX)
		fprintf(out, "  and %zu more, all in regions.csv\n",
			table->row_count - REGIONS_MAX);
	if (table->phase_count == 0)
		return;
	fprintf(out, "\nPhases (unit threads, scope run)\n  with all regions inside them\n");
	for (size_t i = 0; i < table->phase_count && i < REGIONS_MAX; i++)
		write_line(out, summary, &table->phases[i]);
	if (table->phase_count > REGIONS_MAX)
		fprintf(out, "  and %zu more in report.json\n", table->phase_count - REGIONS_MAX);
}

void crit_region_text_write_preemptions(FILE *out, const struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;

	if (results->preemptor_count == 0)
		return;
	fprintf(out, "\nWho had the CPU that threads with work to do waited for\n"
		     "  lost: runnable while that task ran there\n");
	crit_rows_text(out, summary, CRIT_TABLE_PREEMPTIONS,
		       &(struct crit_rows){ .at = results->preemptors,
					    .count = results->preemptor_count,
					    .max = PREEMPTORS_MAX });
	if (results->preemptor_count > PREEMPTORS_MAX)
		fprintf(out, "  and %zu more in report.json\n",
			results->preemptor_count - PREEMPTORS_MAX);
}
