// SPDX-License-Identifier: BSD-3-Clause
// Writes how much sooner a run would end with changes of its code, as JSON.
#include "report/pages/what_if_json.h"

#include <errno.h>

#include "report/causes/cause_words.h"
#include "report/formats/json_stream.h"

static json_t *row_of(const struct crit_fix_row *row, uint64_t recorded_ns)
{
	static const char *const kinds[CRIT_FIX_KIND_COUNT] = {
		[CRIT_FIX_FASTER] = "faster",
		[CRIT_FIX_BALANCED] = "balanced",
		[CRIT_FIX_ALL_BALANCED] = "all_balanced",
		[CRIT_FIX_NO_TRANSFER] = "no_transfer",
		[CRIT_FIX_WISHES] = "wishes",
	};
	const bool has_place = row->kind == CRIT_FIX_FASTER || row->kind == CRIT_FIX_BALANCED;
	char what[CRIT_CAUSE_WHAT_BYTES];
	json_t *object = json_object();

	(void)json_object_set_new(object, "change", json_string(kinds[row->kind]));
	(void)json_object_set_new(object, "gain_s", json_real(1e-9 * (double)row->gain_ns));
	(void)json_object_set_new(object, "percent",
				  row->percent ? json_integer(row->percent) : json_null());
	(void)json_object_set_new(object, "place",
				  has_place ? json_string(crit_cause_what(&row->place, what))
					    : json_null());
	(void)json_object_set_new(object, "share",
				  json_real(recorded_ns ? (double)row->gain_ns / (double)recorded_ns
							: 0));
	(void)json_object_set_new(object, "time_s", json_real(1e-9 * (double)row->ns));
	(void)json_object_set_new(object, "units", json_integer(row->unit_count));
	return object;
}

int crit_what_if_json_write(FILE *out, const struct crit_fix_table *table,
			    const struct crit_results *results)
{
	struct crit_json_stream *stream = crit_json_stream_begin(out);

	if (!stream)
		return -ENOMEM;
	crit_json_stream_member(stream, "circles", json_integer((json_int_t)table->circle_count));
	crit_json_stream_begin_rows(stream, "fixes");
	for (size_t i = 0; i < table->row_count; i++)
		crit_json_stream_row(stream, row_of(&table->rows[i], table->recorded_ns));
	crit_json_stream_end_rows(stream);
	crit_json_stream_member(stream, "inside", json_integer((json_int_t)table->inside_count));
	crit_json_stream_member(stream, "recorded_s", json_real(1e-9 * (double)table->recorded_ns));
	crit_json_stream_member(stream, "schema", json_string("crit-what-if/1"));
	crit_json_stream_member(stream, "unit",
				json_string(results->rank_count ? "rank" : "thread"));
	return crit_json_stream_end(stream);
}
