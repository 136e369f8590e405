// SPDX-License-Identifier: BSD-3-Clause
// Messages, pairs of ranks and late arrivals in the tables of report.txt.
#include "report/pages/message_text.h"

#include <stdlib.h>

#include "core/base/call.h"
#include "core/base/cleanup.h"
#include "report/formats/row_writer.h"
#include "report/tables/message_sums.h"

#define PAIRS_MAX 16
#define COLLECTIVES_MAX 24

/* "  returned an error: MPI_Recv 2, MPI_Wait 1" */
static void write_failed(FILE *out, const struct crit_message_results *messages)
{
	for (size_t i = 0; i < messages->failed_count; i++)
		fprintf(out, "%s%s %llu", i ? ", " : "  returned an error: ",
			crit_call_name(messages->failed[i].call),
			(unsigned long long)messages->failed[i].count);
	if (messages->failed_count)
		(void)fputc('\n', out);
}

static int by_bytes(const void *left, const void *right, void *rows)
{
	const size_t *a = left, *b = right;
	const struct crit_pair_row *one = (struct crit_pair_row *)rows + *a;
	const struct crit_pair_row *two = (struct crit_pair_row *)rows + *b;
	uint64_t x = one->sent_bytes > one->received_bytes ? one->sent_bytes : one->received_bytes;
	uint64_t y = two->sent_bytes > two->received_bytes ? two->sent_bytes : two->received_bytes;

	if (x != y)
		return x > y ? -1 : 1;
	return *a < *b ? -1 : *a > *b; /* as in the results */
}

static void write_sorted(FILE *out, const struct crit_summary *summary, enum crit_table table,
			 struct crit_rows rows, int (*compare)(const void *, const void *, void *))
{
	crit_autofree size_t *order = calloc(rows.count + 1, sizeof(*order));

	if (!order)
		return;
	for (size_t i = 0; i < rows.count; i++)
		order[i] = i;
	qsort_r(order, rows.count, sizeof(*order), compare, (void *)rows.at);
	rows.order = order;
	crit_rows_text(out, summary, table, &rows);
}

static void write_pairs(FILE *out, const struct crit_summary *summary)
{
	const struct crit_message_results *messages = &summary->results->messages;

	if (!messages->pair_count)
		return;
	(void)fputc('\n', out);
	write_sorted(out, summary, CRIT_TABLE_PAIRS,
		     (struct crit_rows){ .at = messages->pairs,
					 .count = messages->pair_count,
					 .max = PAIRS_MAX },
		     by_bytes);
	if (messages->pair_count > PAIRS_MAX)
		fprintf(out, "  and %zu more pairs, all in messages.csv\n",
			messages->pair_count - PAIRS_MAX);
}

/* Messages in no pair: the status of the receive does not tell the source. */
static void write_unknown_sources(FILE *out, const struct crit_results *results)
{
	const uint64_t count = results->messages.losses.unknown_sources;

	if (count)
		fprintf(out,
			"  and %llu received from an unknown source: any was asked for, and "
			"the status tells nothing\n",
			(unsigned long long)count);
}

static void write_until(FILE *out, const struct crit_results *results)
{
	uint64_t traced_ns = crit_message_traced_ns(results);

	if (!traced_ns)
		fprintf(out, "  level profile: only collectives that waited are recorded\n");
	else if (traced_ns < results->window_ns)
		fprintf(out, "  these end where the trace ended: after %.3f s of %.3f s\n",
			(double)traced_ns * 1e-9, (double)results->window_ns * 1e-9);
}

static int by_lateness(const void *left, const void *right, void *rows)
{
	const size_t *a = left, *b = right;
	const struct crit_collective_row *one = (struct crit_collective_row *)rows + *a;
	const struct crit_collective_row *two = (struct crit_collective_row *)rows + *b;

	if (one->late_sum_ns != two->late_sum_ns)
		return one->late_sum_ns > two->late_sum_ns ? -1 : 1;
	return *a < *b ? -1 : *a > *b;
}

static void write_collectives(FILE *out, const struct crit_summary *summary)
{
	const struct crit_message_results *messages = &summary->results->messages;

	if (!messages->collective_count)
		return;
	fprintf(out, "\nWho arrives last\n  late = last arrival - mean arrival, when that rank "
		     "is last; spread = last - first, of all\n");
	write_sorted(out, summary, CRIT_TABLE_COLLECTIVES,
		     (struct crit_rows){ .at = messages->collectives,
					 .count = messages->collective_count,
					 .max = COLLECTIVES_MAX },
		     by_lateness);
	if (messages->collective_count > COLLECTIVES_MAX)
		fprintf(out, "  and %zu more, all in collectives.csv\n",
			messages->collective_count - COLLECTIVES_MAX);
}

void crit_message_text_write(FILE *out, const struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;
	const struct crit_message_results *messages = &results->messages;

	if (!results->has_ranks ||
	    (!messages->traffic_count && !messages->collective_count && !messages->failed_count))
		return;
	fprintf(out, "\nMessages\n  median: the largest size of its bin, a power of two less 1; "
		     "what a request moves\n  counts for the call that started it\n");
	write_until(out, results);
	if (crit_message_traced_ns(results) && !messages->is_whole)
		fprintf(out, "  not whole: losses are in report.json, messages.losses\n");
	if (messages->traffic_count)
		crit_rows_text(out, summary, CRIT_TABLE_TRAFFIC,
			       &(struct crit_rows){ .at = messages->traffic,
						    .count = messages->traffic_count });
	write_failed(out, messages);
	write_pairs(out, summary);
	write_unknown_sources(out, results);
	write_collectives(out, summary);
}
