// SPDX-License-Identifier: BSD-3-Clause
// Two ways from one recording: the report sums visits per call and place, the archive has a region
// for each.  Both are put into one table by name, file and line.
#include "cli/results/visits.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"
#include "core/base/call.h"
#include "core/base/cleanup.h"
#include "core/base/regular.h"

#define FAULT_BYTES 400
#define PATH_BYTES 4096
#define PLACE_MARK " @" /* between a construct and its place, in the name of a region */

struct visits { /* texts are borrowed */
	const char *name;
	size_t name_bytes;
	const char *file; /* NULL: at no line that is known */
	uint32_t line;
	uint64_t entered, visits;
};

struct visit_table {
	struct visits *rows;
	size_t count, capacity;
	uint64_t rank_count;
};

static int add(struct visit_table *table, const struct visits *row)
{
	int rc = crit_array_grow(&table->rows, &table->capacity, table->count + 1,
				 sizeof(*table->rows));

	if (!rc)
		table->rows[table->count++] = *row;
	return rc;
}

static int compare_rows(const void *left, const void *right)
{
	const struct visits *a = left, *b = right;
	size_t bytes = a->name_bytes < b->name_bytes ? a->name_bytes : b->name_bytes;
	int order = memcmp(a->name, b->name, bytes);

	if (!order)
		order = (a->name_bytes > b->name_bytes) - (a->name_bytes < b->name_bytes);
	if (!order)
		order = strcmp(a->file ? a->file : "", b->file ? b->file : "");
	return order ? order : (a->line > b->line) - (a->line < b->line);
}

/* Phases count together, under the name of their construct. */
static int add_entered(struct visit_table *table, const struct crit_otf2_entered_list *entered)
{
	const char *phase = crit_call_name(CRIT_CONSTRUCT_PHASE), *mark;
	int rc = 0;

	for (size_t i = 0; i < entered->count && !rc; i++) {
		const struct crit_otf2_entered *region = &entered->rows[i];
		struct visits row = { .name = region->name, .entered = region->count };

		if (region->owner == CRIT_OTF2_OWNER_NONE || !region->name)
			continue;
		if (region->owner == CRIT_OTF2_OWNER_PHASE)
			row.name = phase;
		row.name_bytes = strlen(row.name);
		if (region->owner == CRIT_OTF2_OWNER_OPENMP) {
			mark = strstr(row.name, PLACE_MARK);
			row.name_bytes = mark ? (size_t)(mark - row.name) : row.name_bytes;
			row.file = region->file;
			row.line = region->file ? region->line : 0;
		}
		rc = add(table, &row);
	}
	return rc;
}

static int add_reported(struct visit_table *table, const json_t *rows)
{
	json_int_t line, visits;
	int rc = 0;

	for (size_t i = 0; i < json_array_size(rows) && !rc; i++) {
		const json_t *from = json_array_get(rows, i);
		struct visits row = { .name = json_string_value(json_object_get(from, "name")),
				      .file = json_string_value(json_object_get(from, "file")) };

		line = json_integer_value(json_object_get(from, "line"));
		visits = json_integer_value(json_object_get(from, "visits"));
		if (!row.name || visits < 0)
			continue;
		if (line <= 0 || line > UINT32_MAX)
			row.file = NULL;
		row.line = row.file ? (uint32_t)line : 0;
		row.name_bytes = strlen(row.name);
		row.visits = (uint64_t)visits;
		rc = add(table, &row);
	}
	return rc;
}

/* Each rank's own begin and end of MPI lie outside its part of the window, where nothing counts. */
static bool is_right(const struct visit_table *table, const struct visits *row)
{
	static const char *const outside[] = { "MPI_Init", "MPI_Init_thread", "MPI_Finalize" };

	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++) {
		if (row->name_bytes == strlen(outside[i]) &&
		    memcmp(row->name, outside[i], row->name_bytes) == 0)
			return row->entered >= row->visits &&
			       row->entered - row->visits <= table->rank_count;
	}
	return row->entered == row->visits;
}

static void tell(const struct visits *row, void (*fault)(void *user, const char *text), void *user)
{
	char text[FAULT_BYTES], line[16] = "";

	if (row->file)
		(void)snprintf(line, sizeof(line), ":%u", row->line);
	(void)snprintf(text, sizeof(text),
		       "%.*s%s%.200s%s is entered %llu times, and has %llu visits in report.json",
		       (int)(row->name_bytes < 80 ? row->name_bytes : 80), row->name,
		       row->file ? " at " : "", row->file ? row->file : "", line,
		       (unsigned long long)row->entered, (unsigned long long)row->visits);
	fault(user, text);
}

/* Adds up what is the same; yields how many differ. */
static int64_t count_faults(struct visit_table *table, void (*fault)(void *user, const char *text),
			    void *user)
{
	int64_t faults = 0;

	if (table->count)
		qsort(table->rows, table->count, sizeof(*table->rows), compare_rows);
	for (size_t i = 0; i < table->count; i++) {
		struct visits *row = &table->rows[i], *next = row + 1;

		if (i + 1 < table->count && compare_rows(row, next) == 0) {
			next->entered += row->entered;
			next->visits += row->visits;
		} else if (!is_right(table, row)) {
			tell(row, fault, user);
			faults++;
		}
	}
	return faults;
}

/* The report beside the anchor, NULL when there is none of this analysis.  Yours to free. */
static json_t *load_report(const char *anchor, const struct crit_otf2_entered_list *entered)
{
	const char *slash = strrchr(anchor, '/');
	char path[PATH_BYTES];
	crit_autofclose FILE *in = NULL;
	const json_t *job;
	const char *run_id;
	json_t *report;

	(void)snprintf(path, sizeof(path), "%.*sreport.json", slash ? (int)(slash - anchor) + 1 : 0,
		       anchor);
	in = crit_regular_stream(path, NULL);
	if (!in)
		return NULL;
	report = json_loadf(in, 0, NULL); /* json_loadfd reads byte by byte */
	job = json_object_get(report, "job");
	run_id = json_string_value(json_object_get(job, "run_id"));
	if (run_id && strtoull(run_id, NULL, 16) == entered->run_id &&
	    llround(json_number_value(json_object_get(job, "window_s")) * 1e9) ==
		    (long long)entered->window_ns)
		return report;
	json_decref(report);
	return NULL;
}

int64_t crit_visits_compare(const char *anchor, const struct crit_otf2_entered_list *entered,
			    void (*fault)(void *user, const char *text), void *user)
{
	json_t *report = entered->is_whole ? load_report(anchor, entered) : NULL;
	struct visit_table table = { .rows = NULL };
	int64_t rc;

	if (!report)
		return 0;
	table.rank_count = json_array_size(json_object_get(report, "ranks"));
	rc = add_entered(&table, entered);
	if (!rc)
		rc = add_reported(&table, json_object_get(report, "mpi_calls"));
	if (!rc)
		rc = add_reported(&table, json_object_get(report, "omp_construct_call_sites"));
	if (!rc)
		rc = count_faults(&table, fault, user);
	free(table.rows);
	json_decref(report);
	return rc;
}
