// SPDX-License-Identifier: BSD-3-Clause
// report.json, schema crit-report/2: complete, sorted by key, units in the names of numbers.
#include "report/pages/report_json.h"

#include <errno.h>

#include "report/causes/cause_rows.h"
#include "report/fixes/fix_table.h"
#include "report/formats/json_stream.h"
#include "report/formats/row_writer.h"
#include "report/graph/wait_graph.h"
#include "report/tables/path_tree.h"
#include "core/base/call.h"

#define PATHS_MAX 1000
#define CAUSES_MAX 1000
#define EDGES_MAX 1000

static void put_object(struct crit_json_stream *json, const char *key,
		       const struct crit_summary *summary, enum crit_table table, const void *at)
{
	crit_row_json(crit_json_key(json, key), &CRIT_ROW(summary, at), table);
}

static void put_rows(struct crit_json_stream *json, const char *key,
		     const struct crit_summary *summary, enum crit_table table, const void *rows,
		     size_t count)
{
	crit_rows_json(crit_json_key(json, key), summary, table, rows, count);
}

static void put_efficiency(struct crit_json_stream *json, const struct crit_summary *summary)
{
	crit_json_object(crit_json_key(json, "efficiency"));
	put_object(json, "cpu", summary, CRIT_TABLE_CPU, summary);
	put_object(json, "wall", summary, CRIT_TABLE_WALL, summary);
	crit_json_close(json);
}

static bool is_construct(uint32_t call)
{
	return call >= CRIT_CALL_OMP_FIRST;
}

/* MPI calls, or constructs. */
static void put_calls(struct crit_json_stream *json, const char *key,
		      const struct crit_summary *summary, bool has_constructs)
{
	const struct crit_results *results = summary->results;
	struct crit_json_members members;

	crit_members_of(&members, CRIT_TABLE_CALLS,
			has_constructs ? CRIT_TABLE_CALLS : CRIT_TABLE_CALL_TRAFFIC);
	crit_json_array(crit_json_key(json, key));
	for (size_t i = 0; i < results->call_count; i++) {
		struct crit_row row = CRIT_ROW(summary, &results->calls[i]);

		if (is_construct(results->calls[i].call) == has_constructs)
			crit_members_json(json, &members, &row, &row);
	}
	crit_json_close(json);
}

struct placed_rows { /* that have a place in the code */
	struct crit_json_stream *json;
	const struct crit_summary *summary;
	struct crit_json_members members;
};

static void begin_placed(struct placed_rows *rows, struct crit_json_stream *json, const char *key,
			 const struct crit_summary *summary, enum crit_table table)
{
	rows->json = json;
	rows->summary = summary;
	crit_members_of(&rows->members, table, CRIT_TABLE_PLACE);
	crit_json_array(crit_json_key(json, key));
}

static void put_placed(struct placed_rows *rows, const void *at,
		       const struct crit_source_location *place)
{
	crit_members_json(rows->json, &rows->members, &CRIT_ROW(rows->summary, at),
			  &CRIT_ROW(rows->summary, place));
}

/* All ranks' calls from one place in one file are one site. */
static void put_sites(struct crit_json_stream *json, const char *key,
		      const struct crit_summary *summary, bool has_constructs)
{
	size_t count;
	const struct crit_call_site_row *sites = crit_call_sites_rows(summary->call_sites, &count);
	struct placed_rows rows;

	begin_placed(&rows, json, key, summary, CRIT_TABLE_CALL_SITES);
	for (size_t i = 0; i < count; i++)
		if (is_construct(sites[i].call) == has_constructs)
			put_placed(&rows, &sites[i], &sites[i].place);
	crit_json_close(json);
}

static void put_hot(struct crit_json_stream *json, const struct crit_summary *summary)
{
	const struct crit_hot_table *hot = &summary->hot;
	struct placed_rows rows;

	begin_placed(&rows, json, "hot", summary, CRIT_TABLE_HOT);
	for (size_t i = 0; i < hot->count; i++)
		put_placed(&rows, &hot->rows[i], &hot->rows[i].place);
	crit_json_close(json);
}

/* Callers come before those they call, so the first rows are a tree as well. */
static void put_paths(struct crit_json_stream *json, const struct crit_summary *summary)
{
	static const struct crit_path_query lines = { .has_call_lines = true, .has_lines = true };
	struct crit_path_tree tree;
	struct placed_rows rows;
	size_t shown;

	if (!crit_path_tree_is_known(summary->results))
		return;
	if (crit_path_tree_init(&tree, summary->results, &summary->finder, &lines)) {
		crit_json_fail(json, -ENOMEM);
		return;
	}
	shown = tree.count < PATHS_MAX ? tree.count : PATHS_MAX;
	put_rows(json, "path_ends", summary, CRIT_TABLE_PATH_ENDS, tree.ends, CRIT_PATH_FIRST);
	begin_placed(&rows, json, "paths", summary, CRIT_TABLE_PATHS);
	for (size_t i = 0; i < shown; i++)
		put_placed(&rows, &tree.nodes[i], &tree.nodes[i].place);
	crit_json_close(json);
	crit_json_integer(crit_json_key(json, "paths_unlisted"), (int64_t)(tree.count - shown));
	crit_path_tree_fini(&tree);
}

static void put_regions(struct crit_json_stream *json, const char *key,
			const struct crit_summary *summary, const struct crit_region_line *lines,
			const size_t *order, size_t count)
{
	struct placed_rows rows;

	begin_placed(&rows, json, key, summary, CRIT_TABLE_REGIONS);
	for (size_t i = 0; i < count; i++) {
		const struct crit_region_line *line = &lines[order ? order[i] : i];

		put_placed(&rows, line, &line->place);
	}
	crit_json_close(json);
}

static void put_nodes(struct crit_json_stream *json, const struct crit_summary *summary)
{
	struct crit_json_members members;

	crit_members_of(&members, CRIT_TABLE_RECORDINGS, CRIT_TABLE_NODES);
	crit_json_array(crit_json_key(json, "nodes"));
	for (size_t i = 0; i < summary->results->node_count; i++)
		crit_members_json(json, &members, &CRIT_ROW(summary, &summary->results->nodes[i]),
				  &CRIT_ROW(summary, &summary->node_sums[i]));
	crit_json_close(json);
}

static void put_causes(struct crit_json_stream *json, const struct crit_summary *summary)
{
	const struct crit_cause_table *causes = summary->causes;

	if (causes)
		put_rows(json, "causes", summary, CRIT_TABLE_CAUSES, causes->rows,
			 causes->row_count < CAUSES_MAX ? causes->row_count : CAUSES_MAX);
}

static void put_late_acts(struct crit_json_stream *json, const struct crit_summary *summary)
{
	if (summary->causes)
		put_rows(json, "late_acts", summary, CRIT_TABLE_LATE_ACTS,
			 summary->causes->late_acts, summary->causes->late_count);
}

static void put_knots(struct crit_json_stream *json, const struct crit_summary *summary)
{
	if (summary->wait_graph)
		put_rows(json, "knots", summary, CRIT_TABLE_KNOTS, summary->wait_graph->rows,
			 summary->wait_graph->knots.count);
}

static void put_wait_edges(struct crit_json_stream *json, const struct crit_summary *summary)
{
	const struct crit_cause_table *causes = summary->causes;

	if (causes)
		put_rows(json, "wait_edges", summary, CRIT_TABLE_WAIT_EDGES, causes->pairs,
			 causes->pair_count < EDGES_MAX ? causes->pair_count : EDGES_MAX);
}

static void put_fixes(struct crit_json_stream *json, const struct crit_summary *summary)
{
	if (summary->fixes)
		put_rows(json, "fixes", summary, CRIT_TABLE_FIXES, summary->fixes->rows,
			 summary->fixes->row_count);
}

/* Sorted by key.  What grows with the threads goes out row by row. */
static void put_members(struct crit_json_stream *json, const struct crit_summary *s)
{
	const struct crit_results *results = s->results;
	const struct crit_region_table *regions = &s->regions;

	put_causes(json, s);
	put_rows(json, "checks", s, CRIT_TABLE_CHECKS, results->checks, results->check_count);
	put_efficiency(json, s);
	put_fixes(json, s);
	put_hot(json, s);
	crit_member_json(json, &CRIT_ROW(s, s), CRIT_TABLE_REPORT, "is_complete");
	put_object(json, "job", s, CRIT_TABLE_JOB, s);
	put_knots(json, s);
	put_late_acts(json, s);
	put_object(json, "losses", s, CRIT_TABLE_LOSSES, &results->losses);
	put_object(json, "lost_time", s, CRIT_TABLE_LOST_TIME, &s->lost);
	put_object(json, "messages", s, CRIT_TABLE_MESSAGES, &results->messages);
	put_rows(json, "missing", s, CRIT_TABLE_MISSING, s->missing, s->missing_count);
	put_calls(json, "mpi_calls", s, false);
	put_sites(json, "mpi_call_sites", s, false);
	put_nodes(json, s);
	put_sites(json, "omp_construct_call_sites", s, true);
	put_calls(json, "omp_constructs", s, true);
	put_paths(json, s);
	put_regions(json, "phases", s, regions->phases, NULL, regions->phase_count);
	put_rows(json, "preemptions", s, CRIT_TABLE_PREEMPTIONS, results->preemptors,
		 results->preemptor_count);
	put_rows(json, "process_ends", s, CRIT_TABLE_PROCESS_ENDS, results->ends,
		 results->end_count);
	put_rows(json, "rank_calls", s, CRIT_TABLE_RANK_CALLS, results->rank_calls,
		 results->rank_call_count);
	put_rows(json, "ranks", s, CRIT_TABLE_RANKS, results->ranks, results->rank_count);
	put_regions(json, "regions", s, regions->rows, regions->order, regions->row_count);
	crit_member_json(json, &CRIT_ROW(s, s), CRIT_TABLE_REPORT, "schema");
	put_rows(json, "threads", s, CRIT_TABLE_THREADS, results->threads, results->thread_count);
	put_object(json, "verdict", s, CRIT_TABLE_VERDICT, s);
	put_wait_edges(json, s);
	if (s->waits.count)
		put_rows(json, "wait_paths", s, CRIT_TABLE_WAIT_PATHS, s->waits.rows,
			 s->waits.count);
}

int crit_write_json(FILE *out, const struct crit_summary *summary)
{
	struct crit_json_stream *json = crit_json_stream_begin(out);

	if (!json)
		return -ENOMEM;
	put_members(json, summary);
	return crit_json_stream_end(json);
}
