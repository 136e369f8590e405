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
	(void)json_object_set_new(row, "is_lock", json_boolean(who->lock));
	(void)json_object_set_new(row, "lock",
				  who->lock && who->lock != CRIT_WHO_LOCKS
					  ? json_integer((json_int_t)who->lock)
					  : json_null());
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

/* What a thread waited, by the state its waits were in. */
static json_t *thread_of(const struct crit_waited *waited, uint32_t thread,
			 const struct crit_results *results)
{
	const struct crit_who who = crit_cause_who_of(results, thread, true);
	uint64_t sum_ns = 0;
	json_t *row = who_of(results, &who);

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

static json_t *knot_of(const struct crit_wait_graph *graph, size_t knot,
		       const struct crit_results *results)
{
	const struct crit_knot *from = &graph->knots.rows[knot];
	json_t *row = json_object(), *members = json_array();

	for (size_t v = 0; v < graph->vertex_count; v++) {
		if (graph->vertices[v].knot == knot)
			(void)json_array_append_new(members,
						    who_of(results, &graph->vertices[v].who));
	}
	(void)json_object_set_new(row, "in_s", seconds((double)from->in_weight));
	(void)json_object_set_new(row, "kind",
				  json_string(from->is_component ? "component" : "knot"));
	(void)json_object_set_new(row, "members", members);
	(void)json_object_set_new(row, "out_s", seconds((double)from->out_weight));
	return row;
}

int crit_waits_json_write(FILE *out, const struct crit_wait_graph *graph,
			  const struct crit_summary *summary)
{
	const struct crit_results *results = summary->results;
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
		crit_json_stream_row(stream, knot_of(graph, i, results));
	crit_json_stream_end_rows(stream);
	crit_json_stream_begin_rows(stream, "pairs");
	for (size_t i = 0; i < table->pair_count; i++)
		crit_json_stream_row(stream, pair_of(&table->pairs[i], results));
	crit_json_stream_end_rows(stream);
	crit_json_stream_member(stream, "schema", json_string("crit-waits/1"));
	crit_json_stream_begin_rows(stream, "threads");
	for (uint32_t i = 0; i < costs->thread_count; i++)
		crit_json_stream_row(stream, thread_of(&costs->threads[i], i, results));
	crit_json_stream_end_rows(stream);
	crit_json_stream_member(stream, "waiting_s", seconds((double)costs->waiting));
	crit_json_stream_member(stream, "waits", json_integer((json_int_t)costs->wait_count));
	crit_json_stream_member(stream, "window_s", seconds((double)costs->window_ns));
	return crit_json_stream_end(stream);
}
