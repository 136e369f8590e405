// SPDX-License-Identifier: BSD-3-Clause
// Writes what waits cost, and who waited for whom, as JSON.
#include "report/pages/waits_json.h"

#include "core/base/call.h"
#include "report/formats/json_stream.h"
#include "report/tables/cause_rows.h"

static json_t *seconds(double ns)
{
	return json_real(1e-9 * ns);
}

static json_t *text(const char *words)
{
	return words ? crit_json_text(words, SIZE_MAX) : json_null();
}

/* Adds who to a row. */
static void add_who(json_t *row, const struct crit_results *results, const struct crit_who *who)
{
	const struct crit_rank_row *rank = who->rank == CRIT_NONE ? NULL
								  : &results->ranks[who->rank];
	const struct crit_thread_row *thread =
		who->thread == CRIT_NONE ? NULL : &results->threads[who->thread];

	(void)json_object_set_new(row, "world",
				  rank ? json_integer(rank->world_number) : json_null());
	(void)json_object_set_new(row, "rank", rank ? json_integer(rank->rank) : json_null());
	(void)json_object_set_new(row, "node", thread ? json_integer(thread->node) : json_null());
	(void)json_object_set_new(row, "pid", thread ? json_integer(thread->pid) : json_null());
	(void)json_object_set_new(row, "tid", thread ? json_integer(thread->tid) : json_null());
}

static json_t *who_of(const struct crit_results *results, const struct crit_who *who)
{
	json_t *row = json_object();

	add_who(row, results, who);
	return row;
}

static json_t *call_of(uint16_t call, const struct crit_source_location *place)
{
	json_t *row;

	if (!call)
		return json_null();
	row = json_object();
	(void)json_object_set_new(row, "call",
				  json_string(call == CRIT_CODE_BLOCKED ? "blocked"
					      : call == CRIT_CODE_IDLE  ? "omp idle"
									: crit_call_name(call)));
	(void)json_object_set_new(row, "function", text(place->function));
	(void)json_object_set_new(row, "file", text(place->file));
	(void)json_object_set_new(row, "line",
				  place->line ? json_integer(place->line) : json_null());
	(void)json_object_set_new(row, "module", text(place->module));
	(void)json_object_set_new(row, "offset", json_integer((json_int_t)place->offset));
	return row;
}

static json_t *cause_of(const struct crit_cause_row *cause, const struct crit_results *results)
{
	json_t *row = json_object();

	add_who(row, results, &cause->who);
	(void)json_object_set_new(row, "kind",
				  json_string(cause->is_outside ? "outside"
					      : cause->is_call  ? "call"
								: "code"));
	(void)json_object_set_new(row, "before", call_of(cause->before_call, &cause->before));
	(void)json_object_set_new(row, "after", call_of(cause->after_call, &cause->after));
	(void)json_object_set_new(row, "cost_s", seconds((double)cause->cost));
	(void)json_object_set_new(row, "direct_s", seconds((double)cause->direct));
	(void)json_object_set_new(row, "path_s", seconds((double)cause->path_ns));
	(void)json_object_set_new(row, "without_cpu_ratio", json_real(cause->without_cpu));
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
			  const struct crit_results *results)
{
	static struct crit_json_stream stream; /* large */
	const struct crit_costs *costs = table->costs;

	crit_json_stream_begin(&stream, out);
	crit_json_stream_begin_rows(&stream, "causes");
	for (size_t i = 0; i < table->row_count; i++)
		crit_json_stream_row(&stream, cause_of(&table->rows[i], results));
	crit_json_stream_end_rows(&stream);
	crit_json_stream_member(&stream, "circles", json_integer((json_int_t)costs->cycle_count));
	crit_json_stream_begin_rows(&stream, "pairs");
	for (size_t i = 0; i < table->pair_count; i++)
		crit_json_stream_row(&stream, pair_of(&table->pairs[i], results));
	crit_json_stream_end_rows(&stream);
	crit_json_stream_member(&stream, "schema", json_string("crit-waits/1"));
	crit_json_stream_member(&stream, "waiting_s", seconds((double)costs->waiting));
	crit_json_stream_member(&stream, "waits", json_integer((json_int_t)costs->wait_count));
	crit_json_stream_member(&stream, "window_s", seconds((double)costs->window_ns));
	return crit_json_stream_end(&stream);
}
