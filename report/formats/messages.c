// SPDX-License-Identifier: BSD-3-Clause
/* Messages and collectives in report.txt, messages.csv and collectives.csv. */
#include "report/formats/messages.h"

#include <stdlib.h>

#include "core/base/call.h"
#include "report/formats/writers.h"
#include "core/base/line.h"

#define PAIRS_MAX 16
#define COLLECTIVES_MAX 24

const struct crit_traffic_row *crit_messages_traffic(const struct crit_results *results,
						     uint32_t call)
{
	const struct crit_message_results *messages = &results->messages;

	for (size_t i = 0; i < messages->traffic_count; i++)
		if (messages->traffic[i].call == call)
			return &messages->traffic[i];
	return NULL;
}

uint64_t crit_messages_failed(const struct crit_results *results, uint32_t call)
{
	const struct crit_message_results *messages = &results->messages;

	for (size_t i = 0; i < messages->failed_count; i++)
		if (messages->failed[i].call == call)
			return messages->failed[i].count;
	return 0;
}

uint64_t crit_messages_bin_max(unsigned int bin)
{
	return bin < 64 ? (1ull << bin) - 1 : UINT64_MAX;
}

unsigned int crit_messages_median_bin(const struct crit_volume *volume)
{
	uint64_t half = (volume->count - volume->unknown_count + 1) / 2;
	uint64_t seen = 0;

	for (unsigned int bin = 0; half && bin < CRIT_SIZE_BINS; bin++) {
		seen += volume->sizes[bin];
		if (seen >= half)
			return bin;
	}
	return CRIT_SIZE_BINS;
}

uint64_t crit_messages_traced_ns(const struct crit_results *results)
{
	uint64_t until_ns = results->messages.until_ns;

	return until_ns > results->window_begin_ns ? until_ns - results->window_begin_ns : 0;
}

/* The collective row in which the ranks lost most by who came last. */
static const struct crit_collective_row *worst_of(const struct crit_results *results, uint32_t call)
{
	const struct crit_message_results *messages = &results->messages;
	const struct crit_collective_row *worst = NULL;

	for (size_t i = 0; i < messages->collective_count; i++) {
		const struct crit_collective_row *row = &messages->collectives[i];

		if (row->call == call && row->last_count &&
		    (!worst || row->late_sum_ns > worst->late_sum_ns))
			worst = row;
	}
	return worst;
}

void crit_messages_say_last(const struct crit_results *results, uint32_t call, uint32_t rank_row,
			    char *text, size_t text_bytes)
{
	const struct crit_collective_row *row = worst_of(results, call);
	const struct crit_last_row *last = row ? &results->messages.lasts[row->first_last] : NULL;

	text[0] = '\0';
	if (!last || last->rank_row != rank_row || last->count * 2 <= row->instances)
		return;
	(void)snprintf(text, text_bytes,
		       ", where it arrives last in %.0f%% of cases, %.3g ms after the mean",
		       100.0 * (double)last->count / (double)row->instances,
		       (double)last->late_sum_ns * 1e-6 / (double)last->count);
}

static double mean_s(uint64_t sum_ns, uint64_t count)
{
	return count ? (double)sum_ns * 1e-9 / (double)count : 0;
}

static void write_volume(FILE *out, const struct crit_volume *volume)
{
	unsigned int bin = crit_messages_median_bin(volume);

	(void)fprintf(out, " %12llu %16llu", (unsigned long long)volume->count,
		      (unsigned long long)volume->bytes);
	if (bin < CRIT_SIZE_BINS)
		(void)fprintf(out, " %12llu", (unsigned long long)crit_messages_bin_max(bin));
	else
		(void)fprintf(out, " %12s", "-");
}

static void write_traffic(FILE *out, const struct crit_results *results)
{
	const struct crit_message_results *messages = &results->messages;

	if (!messages->traffic_count)
		return;
	(void)fprintf(out, "%-24s %12s %16s %12s %12s %16s %12s\n", "call", "sent", "bytes",
		      "median", "received", "bytes", "median");
	for (size_t i = 0; i < messages->traffic_count; i++) {
		(void)fprintf(out, "%-24.24s", crit_call_name(messages->traffic[i].call));
		write_volume(out, &messages->traffic[i].sent);
		write_volume(out, &messages->traffic[i].received);
		(void)fputc('\n', out);
	}
}

/* "  returned an error: MPI_Recv 2, MPI_Wait 1" */
static void write_failed(FILE *out, const struct crit_message_results *messages)
{
	for (size_t i = 0; i < messages->failed_count; i++)
		(void)fprintf(out, "%s%s %llu", i ? ", " : "  returned an error: ",
			      crit_call_name(messages->failed[i].call),
			      (unsigned long long)messages->failed[i].count);
	if (messages->failed_count)
		(void)fputc('\n', out);
}

static int compare_pairs(const void *left, const void *right)
{
	const struct crit_pair_row *const *a = left, *const *b = right;
	uint64_t x = (*a)->sent_bytes > (*a)->received_bytes ? (*a)->sent_bytes
							     : (*a)->received_bytes;
	uint64_t y = (*b)->sent_bytes > (*b)->received_bytes ? (*b)->sent_bytes
							     : (*b)->received_bytes;

	if (x != y)
		return x > y ? -1 : 1;
	return *a < *b ? -1 : *a > *b; /* as in the results */
}

static void write_pairs(FILE *out, const struct crit_results *results)
{
	const struct crit_message_results *messages = &results->messages;
	const struct crit_pair_row **order =
		calloc(messages->pair_count + 1, sizeof(const struct crit_pair_row *));

	for (size_t i = 0; order && i < messages->pair_count; i++)
		order[i] = &messages->pairs[i];
	if (!order || !messages->pair_count) {
		free(order);
		return;
	}
	qsort(order, messages->pair_count, sizeof(const struct crit_pair_row *), compare_pairs);
	(void)fprintf(out, "\n%6s %6s %12s %16s %12s %16s\n", "from", "to", "sent", "bytes",
		      "received", "bytes");
	for (size_t i = 0; i < messages->pair_count && i < PAIRS_MAX; i++) {
		char from[32], to[32];

		(void)fprintf(out, "%6s %6s %12llu %16llu %12llu %16llu\n",
			      crit_summary_rank_name(results, (int32_t)order[i]->from_row, from,
						     sizeof(from)),
			      crit_summary_rank_name(results, (int32_t)order[i]->to_row, to,
						     sizeof(to)),
			      (unsigned long long)order[i]->sent_count,
			      (unsigned long long)order[i]->sent_bytes,
			      (unsigned long long)order[i]->received_count,
			      (unsigned long long)order[i]->received_bytes);
	}
	if (messages->pair_count > PAIRS_MAX)
		(void)fprintf(out, "  and %zu more pairs, all in messages.csv\n",
			      messages->pair_count - PAIRS_MAX);
	free(order);
}

/* Messages in no pair: the status of the receive does not tell the source. */
static void write_unknown_sources(FILE *out, const struct crit_results *results)
{
	const uint64_t count = results->messages.losses.unknown_sources;

	if (count)
		(void)fprintf(out,
			      "  and %llu received from an unknown source: any was asked for, and "
			      "the status tells nothing\n",
			      (unsigned long long)count);
}

static void write_until(FILE *out, const struct crit_results *results)
{
	uint64_t traced_ns = crit_messages_traced_ns(results);

	if (!traced_ns)
		(void)fprintf(out, "  level profile: only collectives that waited are recorded\n");
	else if (traced_ns < results->window_ns)
		(void)fprintf(out, "  these end where the trace ended: after %.3f s of %.3f s\n",
			      (double)traced_ns * 1e-9, (double)results->window_ns * 1e-9);
}

static void write_collective(FILE *out, const struct crit_results *results,
			     const struct crit_collective_row *row)
{
	const struct crit_last_row *last =
		row->last_count ? &results->messages.lasts[row->first_last] : NULL;
	char rank[32];

	crit_line_print(out, "%-24.24s %-28.28s %10llu %10llu", crit_call_name(row->call),
			results->messages.communicators[row->communicator].name,
			(unsigned long long)row->instances, (unsigned long long)row->incomplete);
	if (!last) {
		(void)fputc('\n', out);
		return;
	}
	(void)fprintf(out, " %6s %6.1f%% %12.6f %12.6f %12.6f\n",
		      crit_summary_rank_name(
			      results, last->rank_row == UINT32_MAX ? -1 : (int32_t)last->rank_row,
			      rank, sizeof(rank)),
		      100.0 * (double)last->count / (double)row->instances,
		      mean_s(last->late_sum_ns, last->count), (double)last->late_max_ns * 1e-9,
		      mean_s(row->spread_sum_ns, row->instances));
}

static int compare_late(const void *left, const void *right)
{
	const struct crit_collective_row *const *a = left, *const *b = right;

	if ((*a)->late_sum_ns != (*b)->late_sum_ns)
		return (*a)->late_sum_ns > (*b)->late_sum_ns ? -1 : 1;
	return *a < *b ? -1 : *a > *b;
}

static void write_collectives(FILE *out, const struct crit_results *results)
{
	const struct crit_message_results *messages = &results->messages;
	const struct crit_collective_row **order =
		calloc(messages->collective_count + 1, sizeof(const struct crit_collective_row *));

	for (size_t i = 0; order && i < messages->collective_count; i++)
		order[i] = &messages->collectives[i];
	if (!order || !messages->collective_count) {
		free(order);
		return;
	}
	qsort(order, messages->collective_count, sizeof(const struct crit_collective_row *),
	      compare_late);
	(void)fprintf(out,
		      "\nWho arrives last\n  late = last arrival - mean arrival, when that rank "
		      "is last; spread = last - first, of all\n");
	(void)fprintf(out, "%-24s %-28s %10s %10s %6s %7s %12s %12s %12s\n", "call", "communicator",
		      "instances", "incomplete", "rank", "last", "mean late", "max late",
		      "mean spread");
	for (size_t i = 0; i < messages->collective_count && i < COLLECTIVES_MAX; i++)
		write_collective(out, results, order[i]);
	if (messages->collective_count > COLLECTIVES_MAX)
		(void)fprintf(out, "  and %zu more, all in collectives.csv\n",
			      messages->collective_count - COLLECTIVES_MAX);
	free(order);
}

void crit_messages_write_details(FILE *out, const struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;
	const struct crit_message_results *messages = &results->messages;

	if (!results->has_ranks ||
	    (!messages->traffic_count && !messages->collective_count && !messages->failed_count))
		return;
	(void)fprintf(out,
		      "\nMessages\n  median: the largest size of its bin, a power of two less 1; "
		      "what a request moves\n  counts for the call that started it\n");
	write_until(out, results);
	if (crit_messages_traced_ns(results) && !messages->is_whole)
		(void)fprintf(out, "  not whole: losses are in report.json, messages.losses\n");
	write_traffic(out, results);
	write_failed(out, messages);
	write_pairs(out, results);
	write_unknown_sources(out, results);
	write_collectives(out, results);
}

void crit_write_messages_csv(FILE *out, const struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;

	(void)fprintf(out, "from_rank,to_rank,sent_messages,sent_bytes,received_messages,"
			   "received_bytes\n");
	for (size_t i = 0; i < results->messages.pair_count; i++) {
		const struct crit_pair_row *pair = &results->messages.pairs[i];
		char from[32], to[32];

		(void)fprintf(
			out, "%s,%s,%llu,%llu,%llu,%llu\n",
			crit_summary_rank_name(results, (int32_t)pair->from_row, from,
					       sizeof(from)),
			crit_summary_rank_name(results, (int32_t)pair->to_row, to, sizeof(to)),
			(unsigned long long)pair->sent_count, (unsigned long long)pair->sent_bytes,
			(unsigned long long)pair->received_count,
			(unsigned long long)pair->received_bytes);
	}
}

static void write_last_csv(FILE *out, const struct crit_results *results,
			   const struct crit_collective_row *row)
{
	const struct crit_last_row *last = &results->messages.lasts[row->first_last];
	char rank[32];

	if (!row->last_count) {
		(void)fprintf(out, ",,,,\n");
		return;
	}
	(void)fprintf(out, ",%s,%llu,%.9f,%.9f\n",
		      last->rank_row == UINT32_MAX
			      ? ""
			      : crit_summary_rank_name(results, (int32_t)last->rank_row, rank,
						       sizeof(rank)),
		      (unsigned long long)last->count, mean_s(last->late_sum_ns, last->count),
		      (double)last->late_max_ns * 1e-9);
}

void crit_write_collectives_csv(FILE *out, const struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;

	(void)fprintf(out, "communicator,call,visits,sent_bytes,received_bytes,instances,inferred,"
			   "incomplete,spread_mean_s,spread_max_s,late_mean_s,late_max_s,last_rank,"
			   "last_count,last_late_mean_s,last_late_max_s\n");
	for (size_t i = 0; i < results->messages.collective_count; i++) {
		const struct crit_collective_row *row = &results->messages.collectives[i];

		crit_csv_quote(out, results->messages.communicators[row->communicator].name,
			       sizeof(results->messages.communicators[0].name));
		(void)fprintf(out, ",%s,%llu,%llu,%llu,%llu,%llu,%llu,%.9f,%.9f,%.9f,%.9f",
			      crit_call_name(row->call), (unsigned long long)row->visits,
			      (unsigned long long)row->sent_bytes,
			      (unsigned long long)row->received_bytes,
			      (unsigned long long)row->instances, (unsigned long long)row->inferred,
			      (unsigned long long)row->incomplete,
			      mean_s(row->spread_sum_ns, row->instances),
			      (double)row->spread_max_ns * 1e-9,
			      mean_s(row->late_sum_ns, row->instances),
			      (double)row->late_max_ns * 1e-9);
		write_last_csv(out, results, row);
	}
}
