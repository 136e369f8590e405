// SPDX-License-Identifier: BSD-3-Clause
/* The tables of a report as files of comma-separated values: heads with units, RFC 4180 quoting. */
#include "report/formats/row_writer.h"
#include "report/formats/writers.h"

void crit_write_ranks_csv(FILE *out, const struct crit_summary *summary)
{
	crit_rows_csv(out, summary, CRIT_TABLE_RANKS, summary->results->ranks,
		      summary->results->rank_count);
}

void crit_write_threads_csv(FILE *out, const struct crit_summary *summary)
{
	crit_rows_csv(out, summary, CRIT_TABLE_THREADS, summary->results->threads,
		      summary->results->thread_count);
}

void crit_write_messages_csv(FILE *out, const struct crit_summary *summary)
{
	const struct crit_message_results *messages = &summary->results->messages;

	crit_rows_csv(out, summary, CRIT_TABLE_PAIRS, messages->pairs, messages->pair_count);
}

void crit_write_collectives_csv(FILE *out, const struct crit_summary *summary)
{
	const struct crit_message_results *messages = &summary->results->messages;

	crit_rows_csv(out, summary, CRIT_TABLE_COLLECTIVES, messages->collectives,
		      messages->collective_count);
}

void crit_write_regions_csv(FILE *out, const struct crit_summary *summary)
{
	const struct crit_region_table *table = &summary->regions;

	crit_csv_head(out, CRIT_TABLE_SHARES);
	for (size_t i = 0; i < table->row_count; i++) {
		const struct crit_region_line *line = &table->rows[table->order[i]];

		for (size_t j = 0; j < line->share_count; j++) {
			struct crit_row row =
				CRIT_ROW(summary, &table->shares[line->first_share + j]);

			row.owner = line;
			crit_csv_row(out, &row, CRIT_TABLE_SHARES);
		}
	}
}

static void write_calls(FILE *out, const struct crit_summary *summary)
{
	crit_rows_csv(out, summary, CRIT_TABLE_CALLS, summary->results->calls,
		      summary->results->call_count);
}

static void write_sites(FILE *out, const struct crit_summary *summary)
{
	crit_rows_csv(out, summary, CRIT_TABLE_SITES, summary->sites ? summary->sites->rows : NULL,
		      summary->sites ? summary->sites->row_count : 0);
}

const struct crit_csv crit_csvs[CRIT_CSV_COUNT] = {
	{ "ranks", "ranks.csv", crit_write_ranks_csv },
	{ "threads", "threads.csv", crit_write_threads_csv },
	{ "regions", "regions.csv", crit_write_regions_csv },
	{ "calls", "calls.csv", write_calls },
	{ "sites", "sites.csv", write_sites },
	{ "messages", "messages.csv", crit_write_messages_csv },
	{ "collectives", "collectives.csv", crit_write_collectives_csv },
};
