// SPDX-License-Identifier: BSD-3-Clause
// Writes how much sooner a run would end with changes of its code, as JSON.
#include "report/pages/what_if_json.h"

#include <errno.h>

#include "report/formats/json_stream.h"
#include "report/formats/row_writer.h"

/* What the recorded order was not held to. */
static void put_free_order(struct crit_json_stream *json, const struct crit_fix_table *table)
{
	static const struct {
		const char *key;
		int why;
	} members[CRIT_FREE_COUNT] = {
		{ "any_request", CRIT_FREE_REQUEST },
		{ "any_source", CRIT_FREE_SOURCE },
		{ "locks", CRIT_FREE_LOCK },
		{ "tasks", CRIT_FREE_TASK },
	};

	crit_json_object(crit_json_key(json, "free_order"));
	for (int i = 0; i < CRIT_FREE_COUNT; i++)
		crit_json_integer(crit_json_key(json, members[i].key),
				  (int64_t)table->free_waits[members[i].why]);
	crit_json_close(json);
}

int crit_what_if_json_write(FILE *out, const struct crit_fix_table *table,
			    const struct crit_summary *summary)
{
	struct crit_json_stream *json = crit_json_stream_begin(out);

	if (!json)
		return -ENOMEM;
	crit_json_integer(crit_json_key(json, "circles"), (int64_t)table->circle_count);
	crit_rows_json(crit_json_key(json, "fixes"), summary, CRIT_TABLE_FIXES, table->rows,
		       table->row_count);
	put_free_order(json, table);
	crit_json_integer(crit_json_key(json, "inside"), (int64_t)table->inside_count);
	crit_json_real(crit_json_key(json, "recorded_s"), 1e-9 * (double)table->recorded_ns);
	crit_json_text(crit_json_key(json, "schema"), "crit-what-if/1", SIZE_MAX);
	crit_json_text(crit_json_key(json, "unit"),
		       summary->results->rank_count ? "rank" : "thread", SIZE_MAX);
	crit_json_integer(crit_json_key(json, "waits"), (int64_t)table->wait_count);
	return crit_json_stream_end(json);
}
