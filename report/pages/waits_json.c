// SPDX-License-Identifier: BSD-3-Clause
// Writes what waits cost, and who waited for whom, as JSON.
#include "report/pages/waits_json.h"

#include <errno.h>

#include "report/formats/json_stream.h"
#include "report/formats/row_writer.h"
#include "report/causes/cause_rows.h"

static json_t *seconds(double ns)
{
	return json_real(1e-9 * ns);
}

static json_t *who_of(const struct crit_results *results, const struct crit_who *who)
{
	const struct crit_rank_row *rank = who->rank == CRIT_NONE ? NULL
								  : &results->ranks[who->rank];
	const struct crit_thread_row *thread =
		who->thread == CRIT_NONE ? NULL : &results->threads[who->thread];
	json_t *row = json_object();

	(void)json_object_set_new(row, "world",
				  rank ? json_integer(rank->world_number) : json_null());
	(void)json_object_set_new(row, "rank", rank ? json_integer(rank->rank) : json_null());
	(void)json_object_set_new(row, "node", thread ? json_integer(thread->node) : json_null());
	(void)json_object_set_new(row, "pid", thread ? json_integer(thread->pid) : json_null());
	(void)json_object_set_new(row, "tid", thread ? json_integer(thread->tid) : json_null());
	return row;
}

static json_t *pair_of(const struct crit_waiter_row *pair, const struct crit_results *results)
{
	json_t *row = json_object();

	(void)json_object_set_new(row, "from", who_of(results, &pair->from));
	(void)json_object_set_new(row, "to", who_of(results, &pair->to));
	(void)json_object_set_new(row, "waits", json_integer((json_int_t)pair->count));
	(void)json_object_set_new(row, "waited_s", seconds((double)pair->raw_ns));
	(void)json_object_set_new(row, "self_s", seconds((double)pair->self_ns));
	(void)json_object_set_new(row, "impact_s", seconds((double)pair->impact));
	return row;
}

int crit_waits_json_write(FILE *out, const struct crit_cause_table *table,
			  const struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;
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
	crit_json_stream_begin_rows(stream, "pairs");
	for (size_t i = 0; i < table->pair_count; i++)
		crit_json_stream_row(stream, pair_of(&table->pairs[i], results));
	crit_json_stream_end_rows(stream);
	crit_json_stream_member(stream, "schema", json_string("crit-waits/1"));
	crit_json_stream_member(stream, "waiting_s", seconds((double)costs->waiting));
	crit_json_stream_member(stream, "waits", json_integer((json_int_t)costs->wait_count));
	crit_json_stream_member(stream, "window_s", seconds((double)costs->window_ns));
	return crit_json_stream_end(stream);
}
