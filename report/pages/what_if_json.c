// SPDX-License-Identifier: BSD-3-Clause
// Writes how much sooner a run would end with changes of its code, as JSON.
#include "report/pages/what_if_json.h"

#include <errno.h>

#include "report/formats/json_stream.h"
#include "report/formats/row_writer.h"

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
	crit_json_stream_member(stream, "inside", json_integer((json_int_t)table->inside_count));
	crit_json_stream_member(stream, "recorded_s", json_real(1e-9 * (double)table->recorded_ns));
	crit_json_stream_member(stream, "schema", json_string("crit-what-if/1"));
	crit_json_stream_member(stream, "unit",
				json_string(summary->results->rank_count ? "rank" : "thread"));
	return crit_json_stream_end(stream);
}
