// SPDX-License-Identifier: BSD-3-Clause
// Joins the regions of all processes by place, and what threads did in them.
#include "report/tables/region_table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/table/efficiency.h"
#include "report/tables/location_fit.h"
#include "report/tables/region_shares.h"
#include "core/base/call.h"
#include "core/base/hash.h"
#include "core/base/index.h"

#define LEVELS_SHOWN 8

static const char *text_or(const char *text)
{
	return text ? text : "";
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
	return crit_hash_mix(hash, crit_hash_text(text_or(text)));
}

/* The file code lies in, wherever that is on each node. */
static const char *file_of(const struct crit_source_location *place)
{
	return place->build_id ? place->build_id : text_or(place->module);
}

/* A known line is the same wherever its code lies; else the place in the file has to be. */
static uint64_t hash_line(const struct crit_region_line *line)
{
	uint64_t hash = crit_hash_mix(line->call, (uint64_t)(int64_t)line->parent);

	hash = mix_text(mix_text(hash, line->phase), file_of(&line->place));
	if (line->place.line)
		return crit_hash_mix(mix_text(mix_text(hash, line->place.file),
					      line->place.function),
				     line->place.line);
	return crit_hash_mix(hash, line->place.offset);
}

static bool is_same_line(const struct crit_region_line *a, const struct crit_region_line *b)
{
	if (a->call != b->call || a->parent != b->parent || strcmp(a->phase, b->phase) != 0 ||
	    strcmp(file_of(&a->place), file_of(&b->place)) != 0 || a->place.line != b->place.line)
		return false;
	if (a->place.line)
		return strcmp(text_or(a->place.file), text_or(b->place.file)) == 0 &&
		       strcmp(text_or(a->place.function), text_or(b->place.function)) == 0;
	return a->place.offset == b->place.offset;
}

struct joining {
	struct crit_region_table *table;
	const struct crit_results *results;
	const struct crit_region_finder *finder;
	struct crit_index lines; /* rows of the table, by what makes them one */
	uint32_t *line_of; /* of a region row: index into the table's rows */
};

static struct crit_region_line line_of_row(const struct joining *joining,
					   const struct crit_region_row *row, size_t index)
{
	struct crit_region_line line = { .call = row->call, .parent = -1, .phase = row->name };

	/* definitions come in the order of their numbers; whatever else a file says is cut */
	if (row->parent >= 0 && (size_t)row->parent < index)
		line.parent = (int32_t)joining->line_of[row->parent];
	line.place.offset = row->site;
	if (row->site && joining->finder)
		joining->finder->find(joining->finder->user, row->node, row->pid, row->site,
				      &line.place);
	return line;
}

/* The row of a line, or CRIT_NONE when out of memory. */
static uint32_t find_or_add(struct joining *joining, const struct crit_region_line *key)
{
	struct crit_region_table *table = joining->table;
	const uint64_t hash = hash_line(key);
	struct crit_probe probe;
	uint32_t row = crit_index_first(&joining->lines, hash, &probe);

	while (row != CRIT_NONE && !is_same_line(&table->rows[row], key))
		row = crit_index_next(&joining->lines, &probe);
	if (row != CRIT_NONE)
		return row;
	row = (uint32_t)table->row_count;
	if (crit_index_put(&joining->lines, hash, row))
		return CRIT_NONE;
	table->rows[table->row_count++] = *key;
	return row;
}

static int join_rows(struct joining *joining)
{
	const struct crit_region_results *regions = &joining->results->regions;

	for (size_t i = 0; i < regions->row_count; i++) {
		const struct crit_region_row *row = &regions->rows[i];
		struct crit_region_line key = line_of_row(joining, row, i);
		struct crit_region_line *line;

		joining->line_of[i] = find_or_add(joining, &key);
		if (joining->line_of[i] == CRIT_NONE)
			return -ENOMEM;
		line = &joining->table->rows[joining->line_of[i]];
		line->process_count++;
		line->visits += row->visits;
		line->elapsed_ns += row->elapsed_ns;
		line->scheduling_ns += row->scheduling_ns;
		line->imbalance_ns += row->imbalance_ns;
		line->runnable_ns += row->runnable_ns;
		if (row->team_max > line->team_max)
			line->team_max = row->team_max;
	}
	return 0;
}

static int compare_rows(const void *a, const void *b, void *user)
{
	const struct crit_region_line *rows = user;
	const size_t *left = a;
	const size_t *right = b;
	crit_fix one = rows[*left].sum.run.cmetric[CRIT_UNIT_THREADS];
	crit_fix two = rows[*right].sum.run.cmetric[CRIT_UNIT_THREADS];

	if (one != two)
		return one < two ? 1 : -1;
	return (*left > *right) - (*left < *right);
}

static int sort_rows(struct crit_region_table *table)
{
	table->order = calloc(table->row_count, sizeof(*table->order));
	if (!table->order)
		return -ENOMEM;
	for (size_t i = 0; i < table->row_count; i++)
		table->order[i] = i;
	qsort_r(table->order, table->row_count, sizeof(*table->order), compare_rows, table->rows);
	return 0;
}

static int join(struct joining *joining)
{
	const struct crit_region_results *regions = &joining->results->regions;
	struct crit_region_table *table = joining->table;

	joining->line_of = calloc(regions->row_count, sizeof(*joining->line_of));
	table->rows = calloc(regions->row_count + 1, sizeof(*table->rows));
	if (!joining->line_of || !table->rows || join_rows(joining))
		return -ENOMEM;
	table->rows[table->row_count++] =
		(struct crit_region_line){ .parent = -1, .phase = "" }; /* outside all */
	return crit_region_shares_fill(table, joining->results, joining->line_of);
}

int crit_region_table_init(struct crit_region_table *table, const struct crit_results *results,
			   const struct crit_region_finder *finder)
{
	struct joining joining = { .table = table, .results = results, .finder = finder };
	int rc;

	memset(table, 0, sizeof(*table));
	if (results->regions.row_count == 0)
		return 0;
	rc = join(&joining);
	crit_index_fini(&joining.lines);
	free(joining.line_of);
	if (!rc)
		rc = sort_rows(table);
	if (rc)
		crit_region_table_fini(table);
	return rc;
}

void crit_region_table_fini(struct crit_region_table *table)
{
	free(table->rows);
	free(table->order);
	free(table->phases);
	free(table->shares);
	memset(table, 0, sizeof(*table));
}

const char *crit_region_kind(const struct crit_region_line *line)
{
	switch (line->call) {
	case 0:
		return "outside";
	case CRIT_CONSTRUCT_TASK:
		return "task";
	case CRIT_CONSTRUCT_PHASE:
		return "phase";
	default:
		return "parallel";
	}
}

const char *crit_region_name(const struct crit_region_line *line, char *text, size_t text_bytes)
{
	char place[CRIT_REGION_TEXT];
	const char *call = crit_call_name(line->call);

	if (line->call == 0)
		(void)snprintf(text, text_bytes, "outside all regions");
	else if (line->phase[0])
		(void)snprintf(text, text_bytes, "%s %s", call, line->phase);
	else
		(void)snprintf(text, text_bytes, "%s %s", call,
			       crit_source_location_text(&line->place, place, sizeof(place)));
	return text;
}

const char *crit_region_fit(const struct crit_region_line *line, int columns, char *text,
			    size_t text_bytes)
{
	const char *kind = crit_region_kind(line);
	char name[CRIT_REGION_TEXT];

	if (line->call == 0 || line->phase[0])
		return crit_name_fit(crit_region_name(line, name, sizeof(name)), columns, text,
				     text_bytes);
	(void)snprintf(text, text_bytes, "%s %s", kind,
		       crit_location_fit(&line->place, columns - (int)strlen(kind) - 1, name,
					 sizeof(name)));
	return text;
}

const char *crit_region_path(const struct crit_region_table *table,
			     const struct crit_region_line *line, char *text, size_t text_bytes)
{
	const struct crit_region_line *levels[LEVELS_SHOWN];
	size_t depth = 0;
	size_t used = 0;

	for (; line && depth < LEVELS_SHOWN;
	     line = line->parent >= 0 ? &table->rows[line->parent] : NULL)
		levels[depth++] = line;
	text[0] = '\0';
	if (line)
		used = (size_t)snprintf(text, text_bytes, "... > ");
	while (depth-- && used < text_bytes) {
		char name[CRIT_REGION_TEXT];

		used += (size_t)snprintf(text + used, text_bytes - used, "%s%s",
					 crit_region_name(levels[depth], name, sizeof(name)),
					 depth ? " > " : "");
	}
	return text;
}

void crit_imbalance_of(const double *values_s, const int32_t *indexes, size_t count,
		       struct crit_imbalance *ret_imbalance)
{
	struct crit_imbalance imbalance = { .count = count, .slowest = -1 };
	double sum_s = 0;
	double squares = 0;

	for (size_t i = 0; i < count; i++) {
		sum_s += values_s[i];
		if (imbalance.slowest < 0 || values_s[i] > imbalance.max_s) {
			imbalance.max_s = values_s[i];
			imbalance.slowest = indexes[i];
		}
	}
	imbalance.mean_s = count ? sum_s / (double)count : 0;
	for (size_t i = 0; i < count; i++)
		squares += (values_s[i] - imbalance.mean_s) * (values_s[i] - imbalance.mean_s);
	if (imbalance.mean_s > 0) {
		imbalance.percent = 100 * (imbalance.max_s / imbalance.mean_s - 1);
		imbalance.variation_ratio = sqrt(squares / (double)count) / imbalance.mean_s;
	}
	*ret_imbalance = imbalance;
}
