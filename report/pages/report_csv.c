// SPDX-License-Identifier: BSD-3-Clause
// The tables of a report as files of comma-separated values: heads with units, RFC 4180 quoting.
#include "report/pages/report_csv.h"

#include <string.h>

#include "report/formats/row_writer.h"

static void write_ranks(FILE *out, const struct crit_summary *summary)
{
	crit_rows_csv(out, summary, CRIT_TABLE_RANKS, summary->results->ranks,
		      summary->results->rank_count);
}

static void write_threads(FILE *out, const struct crit_summary *summary)
{
	crit_rows_csv(out, summary, CRIT_TABLE_THREADS, summary->results->threads,
		      summary->results->thread_count);
}

static void write_messages(FILE *out, const struct crit_summary *summary)
{
	const struct crit_message_results *messages = &summary->results->messages;

	crit_rows_csv(out, summary, CRIT_TABLE_PAIRS, messages->pairs, messages->pair_count);
}

static void write_collectives(FILE *out, const struct crit_summary *summary)
{
	const struct crit_message_results *messages = &summary->results->messages;

	crit_rows_csv(out, summary, CRIT_TABLE_COLLECTIVES, messages->collectives,
		      messages->collective_count);
}

static void write_regions(FILE *out, const struct crit_summary *summary)
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

static void write_rank_calls(FILE *out, const struct crit_summary *summary)
{
	crit_rows_csv(out, summary, CRIT_TABLE_RANK_CALLS, summary->results->rank_calls,
		      summary->results->rank_call_count);
}

static void write_call_sites(FILE *out, const struct crit_summary *summary)
{
	size_t count;
	const struct crit_call_site_row *rows = crit_call_sites_rows(summary->call_sites, &count);

	crit_rows_csv(out, summary, CRIT_TABLE_CALL_SITES, rows, count);
}

static void write_hot(FILE *out, const struct crit_summary *summary)
{
	crit_rows_csv(out, summary, CRIT_TABLE_HOT, summary->hot.rows, summary->hot.count);
}

struct crit_csv {
	const char *name; /* for crit report --csv */
	const char *file;
	void (*write)(FILE *out, const struct crit_summary *summary);
};

static const struct crit_csv tables[] = {
	{ "ranks", "ranks.csv", write_ranks },
	{ "threads", "threads.csv", write_threads },
	{ "regions", "regions.csv", write_regions },
	{ "calls", "calls.csv", write_calls },
	{ "rank_calls", "rank_calls.csv", write_rank_calls },
	{ "sites", "sites.csv", write_call_sites },
	{ "hot", "hot.csv", write_hot },
	{ "messages", "messages.csv", write_messages },
	{ "collectives", "collectives.csv", write_collectives },
};

const struct crit_csv *crit_csv_at(size_t index)
{
	return index < sizeof(tables) / sizeof(tables[0]) ? &tables[index] : NULL;
}

const struct crit_csv *crit_csv_find(const char *name)
{
	for (size_t i = 0; crit_csv_at(i); i++)
		if (strcmp(name, tables[i].name) == 0)
			return &tables[i];
	return NULL;
}

const char *crit_csv_file(const struct crit_csv *csv)
{
	return csv->file;
}

void crit_csv_write(const struct crit_csv *csv, FILE *out, const struct crit_summary *summary)
{
	csv->write(out, summary);
}
