// SPDX-License-Identifier: BSD-3-Clause
// The table of columns: what is in it is documented, named once, in crit-report(5) and in the JSON
// schema; CRIT_GOLDEN_WRITE=1 writes both anew.  Golden reports follow the schema, and one of a run
// without ranks whose waits are told one by one.  Compiled with one column more (more_columns.def),
// that is in report.txt, ranks.csv, report.json, page, schema.
#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "report/causes/cause_rows.h"
#include "report/findings/summarise.h"
#include "report/formats/columns.h"
#include "report/graph/wait_graph.h"
#include "report/pages/report_csv.h"
#include "report/pages/report_details.h"
#include "report/pages/report_json.h"
#include "tests/lib/check.h"
#include "tests/unit/report/report_schema.h"
#include "tests/unit/report/results_sample.h"

static const char page_head[] =
	".\\\" SPDX-License-Identifier: BSD-3-Clause\n"
	".\\\" Written by CRIT_GOLDEN_WRITE=1 test-columns from report/formats/columns.def.\n"
	".Dd November 22, 2026\n.Dt CRIT-REPORT 5\n.Os\n.Sh NAME\n.Nm crit-report\n"
	".Nd keys of report.json and columns of the tables\n.Sh DESCRIPTION\n"
	".Xr crit-report 1\nwrites report.json, one object, and tables as files of "
	"comma-separated values.\n"
	"Names tell units: seconds\n.Pq Va _s ,\nparts of 1\n.Pq Va _ratio , share ;\n"
	"all other numbers count.\n"
	".Pa share/doc/crit/docs/metric.md\nhas the formulas.\n"
	"Brackets stand for the elements of an array.\n"
	".Pa share/doc/crit/docs/crit-report.schema.json\nsays the same to validators of JSON.\n";

static const char page_tail[] = ".Sh SEE ALSO\n.Xr crit-report 1 ,\n.Xr crit-recording 5\n";

static void write_table(FILE *out, enum crit_table table)
{
	const struct crit_table_head *head = &crit_table_heads[table];
	size_t count;
	const struct crit_column *columns = crit_columns(&count);

	if (!*head->path)
		return;
	fprintf(out, ".Ss %s%s%s\n%c%s.\n.Bl -tag -width Ds -compact\n", head->path,
		*head->file ? ", " : "", head->file, toupper((unsigned char)head->doc[0]),
		head->doc + 1);
	for (size_t i = 0; i < count; i++)
		if (columns[i].table == table && columns[i].where)
			fprintf(out, ".It Va %s\n%s%s\n", columns[i].key, columns[i].doc,
				columns[i].where == CRIT_IN_CSV    ? " (only in the file)"
				: columns[i].where == CRIT_IN_SOME ? " (may be absent)"
				: columns[i].where == CRIT_IN_JSON && *head->file
					? " (only in report.json)"
					: "");
	(void)fputs(".El\n", out);
}

static char *page_of(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	(void)fputs(page_head, out);
	for (int table = 0; table < CRIT_TABLE_COUNT; table++)
		write_table(out, (enum crit_table)table);
	(void)fputs(page_tail, out);
	(void)fclose(out);
	return text;
}

/* Two columns of a table may share a key only in different files. */
static void check_pair(const struct crit_column *a, const struct crit_column *b)
{
	if (a->table != b->table)
		return;
	CHECK_MSG(strcmp(a->key, b->key) != 0 || !(a->where & b->where), "%s twice in a table",
		  a->key);
	CHECK_MSG(!a->shown.place || a->shown.place != b->shown.place,
		  "%s and %s in one place of report.txt", a->key, b->key);
}

/* What a column gets, as its source has it, macros expanded. */
#define TEXT_OF(...) #__VA_ARGS__
static const char *const values[] = {
#define COLUMN(table, key, kind, value, where, text, doc) TEXT_OF(value),
#include "report/formats/columns.def"
};

/* The schema allows null where the documentation names it. */
static void check_null(const struct crit_column *column, const char *value)
{
	const bool may_be_null = strstr(value, "IF(") || strstr(value, "NULL");

	if (column->where & CRIT_IN_JSON && column->where != CRIT_IN_SOME && may_be_null)
		CHECK_MSG(strstr(column->doc, "null") != NULL,
			  "%s may be null, its documentation does not say so: %s", column->key,
			  column->doc);
}

static void test_columns(void)
{
	size_t count;
	const struct crit_column *columns = crit_columns(&count);
	size_t of_table[CRIT_TABLE_COUNT] = { 0 };

	for (size_t i = 0; i < count; i++) {
		CHECK_MSG(!columns[i].where == !*columns[i].doc, "%s: documentation",
			  columns[i].key);
		CHECK_MSG(columns[i].where || columns[i].shown.place, "%s is nowhere",
			  columns[i].key);
		check_null(&columns[i], values[i]);
		of_table[columns[i].table]++;
		for (size_t j = 0; j < i; j++)
			check_pair(&columns[j], &columns[i]);
	}
	for (int table = 0; table < CRIT_TABLE_COUNT; table++) {
		CHECK_INT_GE(of_table[table], 1);
		CHECK_INT_LE(of_table[table], CRIT_COLUMNS_MAX);
	}
}

#ifdef DOCS
/* Ownership: takes text. */
static void check_file(const char *path, char *text)
{
	char *there = calloc(1, strlen(text) + 4096);
	FILE *file = fopen(path, getenv("CRIT_GOLDEN_WRITE") ? "w+" : "r");

	if (CHECK(file && there)) {
		if (getenv("CRIT_GOLDEN_WRITE"))
			(void)fputs(text, file);
		rewind(file);
		(void)!fread(there, 1, strlen(text) + 4095, file);
		CHECK_MSG(strcmp(text, there) == 0, "%s: CRIT_GOLDEN_WRITE=1 writes it anew", path);
		(void)fclose(file);
	}
	free(there);
	free(text);
}

/* Golden reports follow the schema, and one that lacks a key, has another or a wrong type not. */
static void test_schema(const char *name)
{
	json_t *schema = report_schema();
	json_t *report = json_load_file(name, 0, NULL), *job;
	char text[256];

	CHECK_CASE("%s", name);
	if (!CHECK(report != NULL)) {
		json_decref(schema);
		return;
	}
	CHECK_STR_EQ(report_schema_refuses(schema, report, text, sizeof(text)), "");
	job = json_object_get(report, "job");
	(void)json_object_set_new(job, "nodes", json_string("1"));
	CHECK_STR_EQ(report_schema_refuses(schema, report, text, sizeof(text)),
		     ".job.nodes: its type");
	(void)json_object_set_new(job, "nodes", json_null());
	CHECK_STR_EQ(report_schema_refuses(schema, report, text, sizeof(text)),
		     ".job.nodes: its type");
	(void)json_object_del(job, "nodes");
	CHECK_STR_EQ(report_schema_refuses(schema, report, text, sizeof(text)),
		     ".job: lacks nodes");
	(void)json_object_del(report, "job");
	CHECK_STR_EQ(report_schema_refuses(schema, report, text, sizeof(text)), ": lacks job");
	(void)json_object_set_new(report, "extra", json_null());
	(void)json_object_set_new(report, "job", json_object());
	CHECK_STR_EQ(report_schema_refuses(schema, report, text, sizeof(text)), ": has extra");
	json_decref(report);
	json_decref(schema);
}

#endif

static char *schema_text(void)
{
	json_t *schema = report_schema();
	char *text = json_dumps(schema, JSON_SORT_KEYS | JSON_INDENT(1));
	char *line = NULL;

	json_decref(schema);
	if (!CHECK(text && asprintf(&line, "%s\n", text) > 0))
		exit(1);
	free(text);
	return line;
}

/* Every member of report.json is a column. */
static void check_documented(const char *key)
{
	size_t count;
	const struct crit_column *columns = crit_columns(&count);
	bool is_found = false;

	for (size_t i = 0; i < count && !is_found; i++)
		is_found = columns[i].where && strcmp(columns[i].key, key) == 0;
	for (int table = 0; table < CRIT_TABLE_COUNT && !is_found; table++)
		is_found = strstr(crit_table_heads[table].path, key) != NULL;
	CHECK_MSG(is_found, "%s is not in columns.def", key);
}

static void check_keys(const json_t *value)
{
	const char *key;
	json_t *member;

	for (size_t i = 0; i < json_array_size(value); i++)
		check_keys(json_array_get(value, i));
	json_object_foreach((json_t *)value, key, member)
	{
		check_documented(key);
		if (strcmp(key, "cells") != 0) /* its keys are states and classes */
			check_keys(member);
	}
}

static char *written(const struct crit_summary *summary,
		     void (*write)(FILE *out, const struct crit_summary *summary))
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	write(out, summary);
	(void)fclose(out);
	return text;
}

static void write_json(FILE *out, const struct crit_summary *summary)
{
	CHECK_INT_EQ(crit_write_json(out, summary), 0);
}

static void write_ranks(FILE *out, const struct crit_summary *summary)
{
	crit_csv_write(crit_csv_find("ranks"), out, summary);
}

/* A column of more_columns.def, and none without it. */
static void check_more(char *text, const char *what)
{
	CHECK_CASE("%s", what);
#ifdef CRIT_MORE_RANKS
	CHECK_MSG(strstr(text, what) != NULL, "%s is not in:\n%s", what, text);
#else
	CHECK(strstr(text, what) == NULL);
#endif
	free(text);
}

static void test_formats(void)
{
	static struct results_sample sample;
	const struct crit_summary_options options = { 0 };
	struct crit_summary summary;
	char *json;
	json_t *root;

	results_sample_barriers(&sample);
	CHECK_INT_EQ(crit_summarise(&summary, &sample.results, &options), 0);
	json = written(&summary, write_json);
	root = json_loads(json, 0, NULL);
	CHECK(root != NULL);
	check_keys(root);
	json_decref(root);
	check_more(json, "\"extra_s\": 1.5");
	check_more(written(&summary, crit_write_details), "      blame      extra\n");
	check_more(written(&summary, crit_write_details), "     1.5000\n");
	check_more(written(&summary, write_ranks), ",life_s,extra_s\n");
	check_more(written(&summary, write_ranks), ",1.500000001\n");
	check_more(schema_text(), "\"extra_s\": {");
	check_more(page_of(), ".It Va extra_s\na column of this test\n");
	crit_summary_fini(&summary);
}

/* Threads wait for each other and for nobody of the run: no rank, and now and then no thread. */
static void test_waits_without_ranks(void)
{
	static struct results_sample sample;
	const struct crit_summary_options options = { 0 };
	const struct crit_who nobody = { .rank = CRIT_NONE, .thread = CRIT_NONE };
	const struct crit_who thread = { .rank = CRIT_NONE, .thread = 1 };
	struct crit_cause_row causes[] = { { .who = nobody, .is_outside = true },
					   { .who = thread } };
	struct crit_waiter_row pairs[] = { { .from = thread, .to = nobody } };
	struct crit_late_row late = { .actor = causes[1], .waiter = causes[0] };
	const struct crit_cause_table table = { .rows = causes,
						.row_count = 2,
						.pairs = pairs,
						.pair_count = 1,
						.late_acts = &late,
						.late_count = 1 };
	struct crit_wait_vertex vertex = { .who = thread };
	struct crit_knot knot = { .size = 1 };
	struct crit_wait_graph graph = { .vertices = &vertex,
					 .vertex_count = 1,
					 .knots = { .rows = &knot, .count = 1 } };
	struct crit_knot_row knot_row = { .graph = &graph };
	struct crit_summary summary;
	char *json, text[256];
	json_t *schema = report_schema(), *report;

	CHECK_CASE("waits without ranks");
	graph.rows = &knot_row;
	results_sample_threads(&sample);
	CHECK_INT_EQ(crit_summarise(&summary, &sample.results, &options), 0);
	summary.causes = &table;
	summary.wait_graph = &graph;
	json = written(&summary, write_json);
	report = json_loads(json, 0, NULL);
	CHECK_UINT_EQ(json_array_size(json_object_get(report, "causes")), 2);
	CHECK_UINT_EQ(json_array_size(json_object_get(report, "wait_edges")), 1);
	CHECK_UINT_EQ(json_array_size(json_object_get(report, "late_acts")), 1);
	CHECK_UINT_EQ(json_array_size(json_object_get(report, "knots")), 1);
	CHECK_STR_EQ(report_schema_refuses(schema, report, text, sizeof(text)), "");
	json_decref(report);
	json_decref(schema);
	free(json);
	crit_summary_fini(&summary);
}

int main(void)
{
	test_columns();
#ifdef DOCS
	check_file(DOCS "/crit-report.5", page_of());
	check_file(DOCS "/crit-report.schema.json", schema_text());
	test_schema(DATA "/barriers.json");
	test_schema(DATA "/hybrid.json");
#endif
	test_formats();
	test_waits_without_ranks();
	return check_done();
}
