// SPDX-License-Identifier: BSD-3-Clause
// Writes what waits cost, who waited for whom, and the knots of that, as JSON.
#include "report/pages/waits_json.h"

#include <errno.h>

#include "report/formats/json_stream.h"
#include "report/formats/row_writer.h"
#include "report/causes/cause_rows.h"
#include "report/causes/cause_site.h"

static json_t *seconds(double ns)
{
	return json_real(1e-9 * ns);
}

/* What a thread waited, by the state its waits were in. */
static json_t *thread_of(const struct crit_waited *waited, uint32_t thread,
			 const struct crit_summary *summary)
{
	const struct crit_who who = crit_cause_who_of(summary->results, thread, true);
	uint64_t sum_ns = 0;
	json_t *row = crit_row_json(&CRIT_ROW(summary, &who), CRIT_TABLE_WHO);

	for (int part = 0; part < CRIT_PART_COUNT; part++)
		sum_ns += waited->part_ns[part];
	(void)json_object_set_new(row, "cpu_s", seconds((double)waited->part_ns[CRIT_PART_CPU]));
	(void)json_object_set_new(row, "transfer_s",
				  seconds((double)waited->part_ns[CRIT_PART_TRANSFER]));
	(void)json_object_set_new(row, "unknown_s",
				  seconds((double)waited->part_ns[CRIT_PART_UNKNOWN]));
	(void)json_object_set_new(row, "wait_state_s",
				  seconds((double)waited->part_ns[CRIT_PART_NESTED]));
	(void)json_object_set_new(row, "waiting_s", seconds((double)sum_ns));
	return row;
}

int crit_waits_json_write(FILE *out, const struct crit_wait_graph *graph,
			  const struct crit_summary *summary)
{
	const struct crit_cause_table *table = graph->table;
	const struct crit_costs *costs = table->costs;
	struct crit_json_stream *stream = crit_json_stream_begin(out);

	if (!stream)
		return -ENOMEM;
	crit_json_stream_begin_rows(stream, "causes");
	for (size_t i = 0; i < table->row_count; i++)
		crit_json_stream_row(stream, crit_row_json(&CRIT_ROW(summary, &table->rows[i]),
							   CRIT_TABLE_CAUSES));
	crit_json_stream_end_rows(stream);
	crit_json_stream_member(stream, "circles", json_integer((json_int_t)costs->cycle_count));
	crit_json_stream_begin_rows(stream, "knots");
	for (size_t i = 0; i < graph->knots.count; i++)
		crit_json_stream_row(stream, crit_row_json(&CRIT_ROW(summary, &graph->rows[i]),
							   CRIT_TABLE_KNOTS));
	crit_json_stream_end_rows(stream);
	crit_json_stream_begin_rows(stream, "late_acts");
	for (size_t i = 0; i < table->late_count; i++)
		crit_json_stream_row(stream, crit_row_json(&CRIT_ROW(summary, &table->late_acts[i]),
							   CRIT_TABLE_LATE_ACTS));
	crit_json_stream_end_rows(stream);
	crit_json_stream_begin_rows(stream, "pairs");
	for (size_t i = 0; i < table->pair_count; i++)
		crit_json_stream_row(stream, crit_row_json(&CRIT_ROW(summary, &table->pairs[i]),
							   CRIT_TABLE_WAIT_EDGES));
	crit_json_stream_end_rows(stream);
	crit_json_stream_member(stream, "schema", json_string("crit-waits/1"));
	crit_json_stream_begin_rows(stream, "threads");
	for (uint32_t i = 0; i < costs->thread_count; i++)
		crit_json_stream_row(stream, thread_of(&costs->threads[i], i, summary));
	crit_json_stream_end_rows(stream);
	crit_json_stream_member(stream, "waiting_s", seconds((double)costs->waiting));
	crit_json_stream_member(stream, "waits", json_integer((json_int_t)costs->wait_count));
	crit_json_stream_member(stream, "window_s", seconds((double)costs->window_ns));
	return crit_json_stream_end(stream);
}
