// SPDX-License-Identifier: BSD-3-Clause
// What each column of columns.def gets from its row, and the lists and objects inside rows.
#include "report/formats/columns.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/symbols/system_calls.h"
#include "analysis/waits/code_keys.h"
#include "core/base/call.h"
#include "report/causes/cause_rows.h"
#include "report/causes/code_places.h"
#include "report/causes/cause_words.h"
#include "report/fixes/fix_words.h"
#include "report/findings/runtimes.h"
#include "report/findings/programs.h"
#include "report/formats/json_stream.h"
#include "report/formats/row_writer.h"
#include "report/graph/wait_graph.h"
#include "report/tables/labels.h"
#include "report/tables/message_sums.h"
#include "report/tables/path_tree.h"

static const char *mpi_or_none(const struct crit_results *results, char *text)
{
	return results->has_ranks ? crit_mpi_label(results, text, 64) : "none";
}

static const char *check_node(const struct crit_results *results,
			      const struct crit_consistency_check *check)
{
	return check->scope == CRIT_SCOPE_NODE && check->node < results->node_count
		       ? results->nodes[check->node].host
		       : NULL;
}

static const char *source_location_of(const struct crit_call_site_row *site, char *text,
				      size_t text_bytes)
{
	const char *outer = site->place.outer;
	char place[160];

	(void)snprintf(text, text_bytes, "%s%s%s",
		       crit_source_location_text(&site->place, place, sizeof(place)),
		       outer ? " in " : "", outer ? outer : "");
	return text;
}

static const struct crit_last_row *last_of(const struct crit_results *results,
					   const struct crit_collective_row *row)
{
	return &results->messages.lasts[row->first_last];
}

static double mean_s(uint64_t sum_ns, uint64_t count)
{
	return count ? (double)sum_ns * 1e-9 / (double)count : 0;
}

/* Into the window; less than 0 before it, 0 never. */
static double after_s(const struct crit_results *results, uint64_t time_ns)
{
	return time_ns ? (double)(int64_t)(time_ns - results->window_begin_ns) * 1e-9 : 0;
}

static const struct crit_usage *row_usage(struct crit_row *row, const struct crit_cells *cells)
{
	if (row->used != cells)
		crit_usage_of(cells, &row->usage);
	row->used = cells;
	return &row->usage;
}

__attribute__((format(printf, 2, 3))) static const char *printed(struct crit_value *v,
								 const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(v->room, sizeof(v->room), format, arguments);
	va_end(arguments);
	return v->room;
}

/* As "0x%llx" has it, at the end of the room. */
static const char *hexadecimal(struct crit_value *v, uint64_t number)
{
	char *at = &v->room[sizeof(v->room) - 1];

	*at = '\0';
	do {
		*--at = "0123456789abcdef"[number % 16];
		number /= 16;
	} while (number);
	*--at = 'x';
	*--at = '0';
	return at;
}

/* Groups of MPI calls the user left out. */
static void put_calls_off(struct crit_json_stream *json, const struct crit_results *results)
{
	crit_json_array(json);
	for (unsigned int group = 1; group < CRIT_GROUP_COUNT; group++)
		if (results->omitted >> group & 1)
			crit_json_text(json, crit_group_name(group), SIZE_MAX);
	crit_json_close(json);
}

static void put_named(struct crit_json_stream *json, const struct crit_summary *summary)
{
	const struct crit_lost_time *lost = &summary->lost;
	const size_t count = lost->named_count < CRIT_NAMED_MAX ? lost->named_count
								: CRIT_NAMED_MAX;

	crit_rows_json(json, summary, CRIT_TABLE_NAMED, lost->named, count);
}

static void put_number(struct crit_json_stream *json, bool is_known, uint64_t number)
{
	if (is_known)
		crit_json_integer(json, (int64_t)number);
	else
		crit_json_null(json);
}

static uint64_t sum_waited_ns(const struct crit_waited *waited)
{
	uint64_t sum_ns = 0;

	for (int part = 0; part < CRIT_PART_COUNT; part++)
		sum_ns += waited->part_ns[part];
	return sum_ns;
}

static const char *code_kind(const struct crit_code_place *place)
{
	if (place && place->is_region)
		return "region";
	return place && place->is_call ? "call" : "code";
}

static const char *cause_call_name(uint16_t call)
{
	switch (call) {
	case CRIT_CODE_BLOCKED:
		return "blocked";
	case CRIT_CODE_IDLE:
		return "omp idle";
	case CRIT_CODE_LOCK:
		return "lock handover";
	case CRIT_CODE_PHASE_END:
		return "end of phase";
	case CRIT_CODE_REGION_END:
		return "end of omp parallel";
	default:
		return crit_call_name(call);
	}
}

/* A call that bounds a cause, and its place; null: none, or outside all regions. */
static void put_cause_call(struct crit_json_stream *json, uint16_t call,
			   const struct crit_source_location *place)
{
	const bool is_block = call == CRIT_CODE_BLOCKED;
	const bool has_place = !is_block && !crit_code_is_phase(call);

	if (!call) {
		crit_json_null(json);
		return;
	}
	crit_json_object(json);
	crit_json_text(crit_json_key(json, "call"), cause_call_name(call), SIZE_MAX);
	crit_json_text(crit_json_key(json, "file"), place->file, SIZE_MAX);
	crit_json_text(crit_json_key(json, "function"), place->function, SIZE_MAX);
	put_number(crit_json_key(json, "line"), place->line, place->line);
	crit_json_text(crit_json_key(json, "module"), place->module, SIZE_MAX);
	put_number(crit_json_key(json, "offset"), has_place, place->offset);
	crit_json_text(crit_json_key(json, "system_call"),
		       is_block ? crit_system_call_name((int)place->offset - 1) : NULL, SIZE_MAX);
	crit_json_close(json);
}

static void put_row(struct crit_json_stream *json, const struct crit_summary *summary,
		    enum crit_table table, const void *at)
{
	crit_row_json(json, &CRIT_ROW(summary, at), table);
}

static void put_members(struct crit_json_stream *json, const struct crit_summary *summary,
			const struct crit_knot_row *row)
{
	crit_json_array(json);
	for (size_t v = 0; v < row->graph->vertex_count; v++)
		if (row->graph->vertices[v].knot == row->knot)
			put_row(json, summary, CRIT_TABLE_WHO, &row->graph->vertices[v].who);
	crit_json_close(json);
}

#define WAIT_FRAMES_MAX 100

struct time_cell { /* of a thread's times */
	uint64_t ns;
	char key[64];
};

static struct time_cell cell_of(uint64_t ns, int state, int span_class)
{
	struct time_cell cell = { .ns = ns };

	(void)snprintf(cell.key, sizeof(cell.key), "%s_%s_s",
		       crit_state_name((enum crit_kernel_state)state),
		       span_class ? crit_class_name((enum crit_span_class)span_class) : "no_shim");
	return cell;
}

static int compare_cells(const void *a, const void *b)
{
	return strcmp(((const struct time_cell *)a)->key, ((const struct time_cell *)b)->key);
}

static void put_cells(struct crit_json_stream *json, const struct crit_cells *cells)
{
	struct time_cell known[CRIT_STATE_COUNT * CRIT_CLASS_COUNT] = { 0 };
	size_t count = 0;

	for (int s = 0; s < CRIT_STATE_COUNT; s++)
		for (int c = 0; c < CRIT_CLASS_COUNT; c++)
			if (cells->ns[s][c])
				known[count++] = cell_of(cells->ns[s][c], s, c);
	qsort(known, count, sizeof(known[0]), compare_cells);
	crit_json_object(json);
	for (size_t i = 0; i < count; i++)
		crit_json_real(crit_json_key(json, known[i].key), (double)known[i].ns * 1e-9);
	crit_json_close(json);
}

static void put_imbalance(struct crit_json_stream *json, const struct crit_summary *summary,
			  const struct crit_imbalance *imbalance, const char *slowest)
{
	struct crit_row row = { .summary = summary, .at = imbalance, .label = slowest };

	crit_row_json(json, &row, CRIT_TABLE_IMBALANCE);
}

static void put_spread(struct crit_json_stream *json, const struct crit_summary *summary,
		       const struct crit_imbalance *imbalance, enum crit_unit unit)
{
	char text[CRIT_REGION_TEXT], rank[32];

	if (unit == CRIT_UNIT_THREADS) {
		put_imbalance(json, summary, imbalance,
			      crit_thread_label(summary->results, (size_t)imbalance->slowest, text,
						sizeof(text)));
		return;
	}
	(void)snprintf(text, sizeof(text), "rank %s",
		       crit_rank_label(summary->results, imbalance->slowest, rank, sizeof(rank)));
	put_imbalance(json, summary, imbalance, text);
}

static void put_node_spread(struct crit_json_stream *json, const struct crit_summary *summary,
			    const struct crit_node_sum *sum)
{
	char text[CRIT_REGION_TEXT];

	put_imbalance(json, summary, &sum->useful,
		      crit_slowest_label(summary->results, sum, text, sizeof(text)));
}

static void put_shares(struct crit_json_stream *json, const struct crit_summary *summary,
		       const struct crit_region_line *line)
{
	crit_rows_json(json, summary, CRIT_TABLE_SHARES,
		       &summary->regions.shares[line->first_share], line->share_count);
}

static void put_sizes(struct crit_json_stream *json, const struct crit_summary *summary,
		      const struct crit_volume *volume)
{
	crit_json_array(json);
	for (size_t bin = 0; bin < CRIT_SIZE_BINS; bin++) {
		struct crit_row size = CRIT_ROW(summary, &volume->sizes[bin]);

		size.index = bin;
		if (volume->sizes[bin])
			crit_row_json(json, &size, CRIT_TABLE_SIZES);
	}
	crit_json_close(json);
}

static void put_wait_paths(struct crit_json_stream *json, const struct crit_summary *summary,
			   const struct crit_wait_row *row)
{
	struct crit_path_tree tree;

	if (row->not_captured_ns == row->blocked_ns) {
		crit_rows_json(json, summary, CRIT_TABLE_WAIT_FRAMES, NULL, 0);
		return;
	}
	if (crit_wait_paths_init(&tree, &summary->waits, row, summary->results, &summary->finder)) {
		crit_json_fail(json, -ENOMEM);
		return;
	}
	crit_rows_json(json, summary, CRIT_TABLE_WAIT_FRAMES, tree.nodes,
		       tree.count < WAIT_FRAMES_MAX ? tree.count : WAIT_FRAMES_MAX);
	crit_path_tree_fini(&tree);
}

/* "read fd 3" */
static const char *wait_of(const struct crit_wait_row *row, char *text, size_t text_bytes)
{
	char call[64], object[32];
	const char *on = crit_wait_object(row, object, sizeof(object));

	(void)snprintf(text, text_bytes, "%s%s%s", crit_wait_call(row, call, sizeof(call)),
		       on ? " " : "", on ? on : "");
	return text;
}

/* A value, or null. */
#define IF(has_value, value) ((v->is_null = !(has_value)) ? 0 : (value))
#define PUT_IF(has_value, put) ((v->is_null = !(has_value)) ? (void)0 : (put)) /* likewise, JSON */
#define ROOM(v) (v)->room, sizeof((v)->room)

#define GET_COUNT(value) v->count = (uint64_t)(value)
#define GET_NS GET_COUNT
#define GET_BOOL(value) v->count = (value)
#define GET_NUMBER(value) v->number = (value)
#define GET_RANK(value) v->number = (int32_t)(value)
#define GET_REAL(value) v->real = (double)(value)
#define GET_SHARE GET_REAL
#define GET_PERCENT GET_REAL
#define GET_ERROR GET_REAL
#define GET_FIX(value) v->real = crit_fix_seconds(value)
#define GET_TEXT(value) v->text = (value), v->text_bytes = SIZE_MAX
#define GET_WORD GET_TEXT
#define GET_FIELD(value) v->text = (value), v->text_bytes = sizeof(value)
#define GET_JSON(put) put

#define TABLE(table, type, path, file, doc)                                                        \
	static const type *at_##table(const struct crit_row *row)                                  \
	{                                                                                          \
		return row->at;                                                                    \
	}
#include "report/formats/columns.def"

#define COLUMN(table, key, kind, value, where, text, doc)                                          \
	static void get_##table##_##key##_##where(struct crit_row *row, struct crit_value *v)      \
	{                                                                                          \
		__typeof__(at_##table(row)) r = at_##table(row);                                   \
		const struct crit_summary *s = row->summary;                                       \
		const struct crit_results *results = s->results;                                   \
                                                                                                   \
		(void)r;                                                                           \
		(void)results;                                                                     \
		GET_##kind(value);                                                                 \
	}
#include "report/formats/columns.def"

#define SHOWN(place, head, width, digits) place, head, width, digits
#define HIDDEN 0

static const struct crit_column columns[] = {
#define COLUMN(table, key, kind, value, where, text, doc)                                          \
	{ CRIT_TABLE_##table,                                                                      \
	  CRIT_KIND_##kind,                                                                        \
	  CRIT_##where,                                                                            \
	  #key,                                                                                    \
	  get_##table##_##key##_##where,                                                           \
	  { text },                                                                                \
	  doc },
#include "report/formats/columns.def"
};

enum {
#define TABLE(table, type, path, file, doc) FIRST_##table, BEFORE_##table = FIRST_##table - 1,
#define COLUMN(table, key, kind, value, where, text, doc) AT_##table##_##key##_##where,
#include "report/formats/columns.def"
};

const struct crit_table_head crit_table_heads[CRIT_TABLE_COUNT] = {
#define TABLE(table, type, path, file, doc) { sizeof(type), FIRST_##table, path, file, doc },
#include "report/formats/columns.def"
};

const struct crit_column *crit_columns(size_t *ret_count)
{
	*ret_count = sizeof(columns) / sizeof(columns[0]);
	return columns;
}
