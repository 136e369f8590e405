// SPDX-License-Identifier: BSD-3-Clause
// Writes what waits cost, who waited for whom, and the knots of that, as JSON.
#include "report/pages/waits_json.h"

#include <errno.h>

#include "report/formats/json_stream.h"
#include "report/formats/row_writer.h"
#include "report/causes/cause_rows.h"
#include "report/causes/cause_who.h"

/* What each thread waited, by the state its waits were in. */
static void put_threads(struct crit_json_stream *json, const struct crit_costs *costs,
			const struct crit_summary *summary)
{
	struct crit_json_members members;

	crit_members_of(&members, CRIT_TABLE_WHO, CRIT_TABLE_WAITED);
	crit_json_array(crit_json_key(json, "threads"));
	for (uint32_t i = 0; i < costs->thread_count; i++) {
		const struct crit_who who = crit_cause_who_of(summary->results, i, true);

		crit_members_json(json, &members, &CRIT_ROW(summary, &who),
				  &CRIT_ROW(summary, &costs->threads[i]));
	}
	crit_json_close(json);
}

int crit_waits_json_write(FILE *out, const struct crit_wait_graph *graph,
			  const struct crit_summary *summary)
{
	const struct crit_cause_table *table = graph->table;
	const struct crit_costs *costs = table->costs;
	struct crit_json_stream *json = crit_json_stream_begin(out);

	if (!json)
		return -ENOMEM;
	crit_rows_json(crit_json_key(json, "causes"), summary, CRIT_TABLE_CAUSES, table->rows,
		       table->row_count);
	crit_json_integer(crit_json_key(json, "circles"), (int64_t)costs->cycle_count);
	crit_rows_json(crit_json_key(json, "knots"), summary, CRIT_TABLE_KNOTS, graph->rows,
		       graph->knots.count);
	crit_rows_json(crit_json_key(json, "late_acts"), summary, CRIT_TABLE_LATE_ACTS,
		       table->late_acts, table->late_count);
	crit_rows_json(crit_json_key(json, "pairs"), summary, CRIT_TABLE_WAIT_EDGES, table->pairs,
		       table->pair_count);
	crit_json_text(crit_json_key(json, "schema"), "crit-waits/1", SIZE_MAX);
	put_threads(json, costs, summary);
	crit_json_real(crit_json_key(json, "waiting_s"), 1e-9 * (double)costs->waiting);
	crit_json_integer(crit_json_key(json, "waits"), (int64_t)costs->wait_count);
	crit_json_real(crit_json_key(json, "window_s"), 1e-9 * (double)costs->window_ns);
	return crit_json_stream_end(json);
}
