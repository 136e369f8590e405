// SPDX-License-Identifier: BSD-3-Clause
// report.json, schema crit-report/2: complete, sorted by key, units in the names of numbers.
#include "report/pages/report_json.h"

#include <errno.h>

#include "report/causes/cause_rows.h"
#include "report/causes/fix_table.h"
#include "report/formats/json_stream.h"
#include "report/formats/row_writer.h"
#include "report/graph/wait_graph.h"
#include "report/tables/path_tree.h"
#include "core/base/call.h"

#define PATHS_MAX 1000
#define CAUSES_MAX 1000
#define EDGES_MAX 1000

static json_t *object_of(const struct crit_summary *summary, enum crit_table table, const void *at)
{
	return crit_row_json(&CRIT_ROW(summary, at), table);
}

static void put_object(struct crit_json_stream *stream, const char *key,
		       const struct crit_summary *summary, enum crit_table table, const void *at)
{
	crit_json_stream_member(stream, key, object_of(summary, table, at));
}

static void put_rows(struct crit_json_stream *stream, const char *key,
		     const struct crit_summary *summary, enum crit_table table, const void *rows,
		     size_t count)
{
	const size_t row_bytes = crit_table_heads[table].row_bytes;

	crit_json_stream_begin_rows(stream, key);
	for (size_t i = 0; i < count; i++)
		crit_json_stream_row(stream,
				     object_of(summary, table, (const char *)rows + i * row_bytes));
	crit_json_stream_end_rows(stream);
}

static void put_efficiency(struct crit_json_stream *stream, const struct crit_summary *summary)
{
	json_t *both = json_object();

	if (json_object_set_new(both, "cpu", object_of(summary, CRIT_TABLE_CPU, summary)) ||
	    json_object_set_new(both, "wall", object_of(summary, CRIT_TABLE_WALL, summary))) {
		json_decref(both);
		both = NULL;
	}
	crit_json_stream_member(stream, "efficiency", both);
}

static bool is_construct(uint32_t call)
{
	return call >= CRIT_CALL_OMP_FIRST;
}

/* MPI calls, or constructs. */
static void put_calls(struct crit_json_stream *stream, const char *key,
		      const struct crit_summary *summary, bool has_constructs)
{
	const struct crit_results *results = summary->results;

	crit_json_stream_begin_rows(stream, key);
	for (size_t i = 0; i < results->call_count; i++) {
		struct crit_row row = CRIT_ROW(summary, &results->calls[i]);
		json_t *object;

		if (is_construct(results->calls[i].call) != has_constructs)
			continue;
		object = crit_row_json(&row, CRIT_TABLE_CALLS);
		if (!has_constructs)
			object = crit_row_add(object, &row, CRIT_TABLE_CALL_TRAFFIC);
		crit_json_stream_row(stream, object);
	}
	crit_json_stream_end_rows(stream);
}

static void put_with_place(struct crit_json_stream *stream, const struct crit_summary *summary,
			   enum crit_table table, const void *at,
			   const struct crit_source_location *place)
{
	crit_json_stream_row(stream, crit_row_add(object_of(summary, table, at),
						  &CRIT_ROW(summary, place), CRIT_TABLE_PLACE));
}

/* All ranks' calls from one place in one file are one site. */
static void put_sites(struct crit_json_stream *stream, const char *key,
		      const struct crit_summary *summary, bool has_constructs)
{
	size_t count;
	const struct crit_call_site_row *rows = crit_call_sites_rows(summary->call_sites, &count);

	crit_json_stream_begin_rows(stream, key);
	for (size_t i = 0; i < count; i++)
		if (is_construct(rows[i].call) == has_constructs)
			put_with_place(stream, summary, CRIT_TABLE_CALL_SITES, &rows[i],
				       &rows[i].place);
	crit_json_stream_end_rows(stream);
}

static void put_hot(struct crit_json_stream *stream, const struct crit_summary *summary)
{
	const struct crit_hot_table *hot = &summary->hot;

	crit_json_stream_begin_rows(stream, "hot");
	for (size_t i = 0; i < hot->count; i++)
		put_with_place(stream, summary, CRIT_TABLE_HOT, &hot->rows[i], &hot->rows[i].place);
	crit_json_stream_end_rows(stream);
}

/* Callers come before those they call, so the first rows are a tree as well. */
static void put_paths(struct crit_json_stream *stream, const struct crit_summary *summary)
{
	static const struct crit_path_query lines = { .has_call_lines = true, .has_lines = true };
	struct crit_path_tree tree;
	size_t shown;

	if (!crit_path_tree_is_known(summary->results))
		return;
	if (crit_path_tree_init(&tree, summary->results, &summary->finder, &lines)) {
		crit_json_stream_member(stream, "paths", NULL);
		return;
	}
	shown = tree.count < PATHS_MAX ? tree.count : PATHS_MAX;
	put_rows(stream, "path_ends", summary, CRIT_TABLE_PATH_ENDS, tree.ends, CRIT_PATH_FIRST);
	crit_json_stream_begin_rows(stream, "paths");
	for (size_t i = 0; i < shown; i++)
		put_with_place(stream, summary, CRIT_TABLE_PATHS, &tree.nodes[i],
			       &tree.nodes[i].place);
	crit_json_stream_end_rows(stream);
	crit_json_stream_member(stream, "paths_unlisted",
				json_integer((json_int_t)(tree.count - shown)));
	crit_path_tree_fini(&tree);
}

static void put_regions(struct crit_json_stream *stream, const char *key,
			const struct crit_summary *summary, const struct crit_region_line *lines,
			const size_t *order, size_t count)
{
	crit_json_stream_begin_rows(stream, key);
	for (size_t i = 0; i < count; i++) {
		const struct crit_region_line *line = &lines[order ? order[i] : i];

		put_with_place(stream, summary, CRIT_TABLE_REGIONS, line, &line->place);
	}
	crit_json_stream_end_rows(stream);
}

static void put_nodes(struct crit_json_stream *stream, const struct crit_summary *summary)
{
	crit_json_stream_begin_rows(stream, "nodes");
	for (size_t i = 0; i < summary->results->node_count; i++) {
		json_t *object =
			object_of(summary, CRIT_TABLE_RECORDINGS, &summary->results->nodes[i]);

		crit_json_stream_row(
			stream, crit_row_add(object, &CRIT_ROW(summary, &summary->node_sums[i]),
					     CRIT_TABLE_NODES));
	}
	crit_json_stream_end_rows(stream);
}

static void put_member_of(struct crit_json_stream *stream, const char *key, json_t *report)
{
	crit_json_stream_member(stream, key, json_incref(json_object_get(report, key)));
}

static void put_causes(struct crit_json_stream *stream, const struct crit_summary *summary)
{
	const struct crit_cause_table *causes = summary->causes;

	if (causes)
		put_rows(stream, "causes", summary, CRIT_TABLE_CAUSES, causes->rows,
			 causes->row_count < CAUSES_MAX ? causes->row_count : CAUSES_MAX);
}

static void put_late_acts(struct crit_json_stream *stream, const struct crit_summary *summary)
{
	if (summary->causes)
		put_rows(stream, "late_acts", summary, CRIT_TABLE_LATE_ACTS,
			 summary->causes->late_acts, summary->causes->late_count);
}

static void put_knots(struct crit_json_stream *stream, const struct crit_summary *summary)
{
	if (summary->wait_graph)
		put_rows(stream, "knots", summary, CRIT_TABLE_KNOTS, summary->wait_graph->rows,
			 summary->wait_graph->knots.count);
}

static void put_wait_edges(struct crit_json_stream *stream, const struct crit_summary *summary)
{
	const struct crit_cause_table *causes = summary->causes;

	if (causes)
		put_rows(stream, "wait_edges", summary, CRIT_TABLE_WAIT_EDGES, causes->pairs,
			 causes->pair_count < EDGES_MAX ? causes->pair_count : EDGES_MAX);
}

static void put_fixes(struct crit_json_stream *stream, const struct crit_summary *summary)
{
	if (summary->fixes)
		put_rows(stream, "fixes", summary, CRIT_TABLE_FIXES, summary->fixes->rows,
			 summary->fixes->row_count);
}

/* Sorted by key.  What grows with the threads goes out row by row. */
static void put_members(struct crit_json_stream *stream, const struct crit_summary *s)
{
	const struct crit_results *results = s->results;
	const struct crit_region_table *regions = &s->regions;
	json_t *report = object_of(s, CRIT_TABLE_REPORT, s);

	put_causes(stream, s);
	put_rows(stream, "checks", s, CRIT_TABLE_CHECKS, results->checks, results->check_count);
	put_efficiency(stream, s);
	put_fixes(stream, s);
	put_hot(stream, s);
	put_member_of(stream, "is_complete", report);
	put_object(stream, "job", s, CRIT_TABLE_JOB, s);
	put_knots(stream, s);
	put_late_acts(stream, s);
	put_object(stream, "losses", s, CRIT_TABLE_LOSSES, &results->losses);
	put_object(stream, "lost_time", s, CRIT_TABLE_LOST_TIME, &s->lost);
	put_object(stream, "messages", s, CRIT_TABLE_MESSAGES, &results->messages);
	put_rows(stream, "missing", s, CRIT_TABLE_MISSING, s->missing, s->missing_count);
	put_calls(stream, "mpi_calls", s, false);
	put_sites(stream, "mpi_call_sites", s, false);
	put_nodes(stream, s);
	put_sites(stream, "omp_construct_call_sites", s, true);
	put_calls(stream, "omp_constructs", s, true);
	put_paths(stream, s);
	put_regions(stream, "phases", s, regions->phases, NULL, regions->phase_count);
	put_rows(stream, "preemptions", s, CRIT_TABLE_PREEMPTIONS, results->preemptors,
		 results->preemptor_count);
	put_rows(stream, "process_ends", s, CRIT_TABLE_PROCESS_ENDS, results->ends,
		 results->end_count);
	put_rows(stream, "rank_calls", s, CRIT_TABLE_RANK_CALLS, results->rank_calls,
		 results->rank_call_count);
	put_rows(stream, "ranks", s, CRIT_TABLE_RANKS, results->ranks, results->rank_count);
	put_regions(stream, "regions", s, regions->rows, regions->order, regions->row_count);
	put_member_of(stream, "schema", report);
	put_rows(stream, "threads", s, CRIT_TABLE_THREADS, results->threads, results->thread_count);
	put_object(stream, "verdict", s, CRIT_TABLE_VERDICT, s);
	put_wait_edges(stream, s);
	if (s->waits.count)
		put_rows(stream, "wait_paths", s, CRIT_TABLE_WAIT_PATHS, s->waits.rows,
			 s->waits.count);
	json_decref(report);
}

int crit_write_json(FILE *out, const struct crit_summary *summary)
{
	struct crit_json_stream *stream = crit_json_stream_begin(out);

	if (!stream)
		return -ENOMEM;
	put_members(stream, summary);
	return crit_json_stream_end(stream);
}
