// SPDX-License-Identifier: BSD-3-Clause
// Writes how much sooner a run would end with changes of its code, as JSON.
#include "report/pages/what_if_json.h"

#include <errno.h>

#include "report/formats/json_stream.h"
#include "report/formats/row_writer.h"

static json_t *free_order_of(const struct crit_fix_table *table)
{
	static const char *const names[CRIT_FREE_COUNT] = {
		[CRIT_FREE_LOCK] = "locks",
		[CRIT_FREE_SOURCE] = "any_source",
		[CRIT_FREE_REQUEST] = "any_request",
		[CRIT_FREE_TASK] = "tasks",
	};
	json_t *row = json_object();

	for (int why = 0; why < CRIT_FREE_COUNT; why++)
		(void)json_object_set_new(row, names[why],
					  json_integer((json_int_t)table->free_waits[why]));
	return row;
}

int crit_what_if_json_write(FILE *out, const struct crit_fix_table *table,
			    const struct crit_summary *summary)
{
	struct crit_json_stream *stream = crit_json_stream_begin(out);

	if (!stream)
		return -ENOMEM;
	crit_json_stream_member(stream, "circles", json_integer((json_int_t)table->circle_count));
	crit_json_stream_begin_rows(stream, "fixes");
	for (size_t i = 0; i < table->row_count; i++)
		crit_json_stream_row(stream, crit_row_json(&CRIT_ROW(summary, &table->rows[i]),
							   CRIT_TABLE_FIXES));
	crit_json_stream_end_rows(stream);
	crit_json_stream_member(stream, "free_order", free_order_of(table));
	crit_json_stream_member(stream, "inside", json_integer((json_int_t)table->inside_count));
	crit_json_stream_member(stream, "recorded_s", json_real(1e-9 * (double)table->recorded_ns));
	crit_json_stream_member(stream, "schema", json_string("crit-what-if/1"));
	crit_json_stream_member(stream, "unit",
				json_string(summary->results->rank_count ? "rank" : "thread"));
	crit_json_stream_member(stream, "waits", json_integer((json_int_t)table->wait_count));
	return crit_json_stream_end(stream);
}
