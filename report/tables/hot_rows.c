// SPDX-License-Identifier: BSD-3-Clause
// Joins what was sampled by line, function or library.
#include "report/tables/hot_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/table/group_by.h"
#include "core/base/array.h"
#include "report/tables/location_fit.h"

#define PLACE_COLUMNS 96
#define NAME_BYTES 512

struct piece { /* a row of the results */
	const struct crit_sample_row *row;
	struct crit_source_location place;
};

static int compare_text(const char *left, const char *right)
{
	return strcmp(left ? left : "", right ? right : "");
}

static int compare_libraries(const void *a, const void *b)
{
	const struct piece *left = a, *right = b;

	return compare_text(left->place.module, right->place.module);
}

static int compare_functions(const void *a, const void *b)
{
	const struct piece *left = a, *right = b;

	return crit_source_function_compare(&left->place, &right->place);
}

static int compare_lines(const void *a, const void *b)
{
	const struct piece *left = a, *right = b;
	int order = compare_functions(a, b);

	if (!order)
		order = compare_text(left->place.file, right->place.file);
	return order ? order : crit_by_number(left->place.line, right->place.line);
}

static void begin(void *to, const void *from)
{
	const struct piece *piece = from;
	struct crit_hot_row *row = to;

	row->place = piece->place;
	row->kind = piece->place.module ? CRIT_HOT_CODE : CRIT_HOT_UNKNOWN;
}

static void join(void *to, const void *from)
{
	const struct piece *piece = from;
	struct crit_hot_row *row = to;

	row->cmetric += piece->row->cmetric;
	row->cpu_ns += piece->row->cpu_ns;
	row->samples += piece->row->count;
	for (uint32_t i = 0; i < CRIT_SAMPLE_BATCHES; i++)
		row->batches_s[i] += (double)piece->row->error_s[i];
	row->one_sample_s = fmax(row->one_sample_s, (double)piece->row->one_sample_s);
	if (piece->row->cmetric > row->hottest) {
		row->hottest = piece->row->cmetric;
		row->place = piece->place;
	}
}

static const struct crit_grouping groupings[CRIT_HOT_LEVEL_COUNT] = {
	[CRIT_HOT_LINE] = { sizeof(struct piece), sizeof(struct crit_hot_row), compare_lines, begin,
			    join, NULL },
	[CRIT_HOT_FUNCTION] = { sizeof(struct piece), sizeof(struct crit_hot_row),
				compare_functions, begin, join, NULL },
	[CRIT_HOT_LIBRARY] = { sizeof(struct piece), sizeof(struct crit_hot_row), compare_libraries,
			       begin, join, NULL },
};

static bool is_wanted(const struct crit_results *results, const struct crit_hot_query *query,
		      size_t thread)
{
	if (!query->is_of_unit)
		return true;
	if (results->has_ranks)
		return results->threads[thread].rank_row == (int32_t)query->unit_row;
	return thread == query->unit_row;
}

/* Is the place in the function, itself or inlined?  Then it is seen from there. */
static bool see_function(struct crit_source_location *place, const char *function)
{
	for (uint32_t i = 0; i < place->frame_count; i++)
		if (place->frames[i].function &&
		    crit_name_is(place->frames[i].function, function)) {
			crit_source_see_from(place, &place->frames[i]);
			return true;
		}
	return !place->frame_count && place->function && crit_name_is(place->function, function);
}

struct search {
	const struct crit_results *results;
	const struct crit_hot_query *query;
	struct piece *pieces;
	size_t count;
	crit_fix cmetric; /* of all, whatever the function */
	uint64_t cpu_ns;
};

static void find_pieces(struct search *search, const struct crit_region_finder *finder)
{
	const struct crit_results *results = search->results;
	const struct crit_hot_query *query = search->query;

	for (size_t i = 0; i < results->samples.row_count; i++) {
		const struct crit_sample_row *row = &results->samples.rows[i];
		const struct crit_thread_row *thread = &results->threads[row->thread];
		struct piece *piece = &search->pieces[search->count];
		struct crit_source_location *place = &piece->place;

		if (!is_wanted(results, query, row->thread))
			continue;
		*piece = (struct piece){ .row = row };
		if (finder->find)
			finder->find(finder->user, thread->node, thread->pid, row->address, place);
		if (query->level == CRIT_HOT_FUNCTION && place->frame_count > 1)
			crit_source_see_from(place, &place->frames[place->frame_count - 1]);
		search->cmetric += row->cmetric;
		search->cpu_ns += row->cpu_ns;
		search->count += !query->function || see_function(place, query->function);
	}
}

static crit_fix not_sampled(const struct search *search)
{
	crit_fix sum = 0;

	for (size_t i = 0; i < search->results->thread_count; i++)
		if (is_wanted(search->results, search->query, i))
			sum += search->results->samples.not_sampled[i];
	return sum;
}

double crit_hot_error_s(const struct crit_hot_row *row, double times,
			const struct crit_hot_row *other, uint32_t batch_count)
{
	double squares = 0;

	if (batch_count < 2)
		return -1;
	for (uint32_t i = 0; i < CRIT_SAMPLE_BATCHES; i++) {
		double batch_s = row->batches_s[i] + times * other->batches_s[i];

		squares += batch_s * batch_s;
	}
	return fmax(sqrt(squares * batch_count / (batch_count - 1)),
		    fmax(row->one_sample_s, fabs(times) * other->one_sample_s));
}

static int compare_rows(const void *a, const void *b)
{
	const struct crit_hot_row *left = a, *right = b;

	if (left->cmetric != right->cmetric)
		return left->cmetric < right->cmetric ? 1 : -1;
	if (left->cpu_ns != right->cpu_ns)
		return left->cpu_ns < right->cpu_ns ? 1 : -1;
	return compare_lines(&(struct piece){ .place = left->place },
			     &(struct piece){ .place = right->place });
}

static void finish(struct crit_hot_table *table, const struct search *search)
{
	const double all_s = crit_fix_seconds(search->cmetric);
	const uint32_t batch_count = search->results->samples.batch_count;

	for (size_t i = 0; i < table->count; i++) {
		struct crit_hot_row *row = &table->rows[i];

		row->level = search->query->level;
		if (row->kind != CRIT_HOT_NOT_SAMPLED)
			row->error_s = crit_hot_error_s(row, 0, row, batch_count);
		row->share = all_s > 0 ? crit_fix_seconds(row->cmetric) / all_s : 0;
		row->cpu_share = search->cpu_ns ? (double)row->cpu_ns / (double)search->cpu_ns : 0;
	}
	qsort(table->rows, table->count, sizeof(*table->rows), compare_rows);
}

int crit_hot_table_init(struct crit_hot_table *table, const struct crit_results *results,
			const struct crit_region_finder *finder, const struct crit_hot_query *query)
{
	struct search search = { .results = results, .query = query };
	crit_fix rest;

	*table = (struct crit_hot_table){ 0 };
	if (!results->samples.count)
		return 0;
	search.pieces = calloc(results->samples.row_count + 1, sizeof(*search.pieces));
	if (!search.pieces)
		return -ENOMEM;
	find_pieces(&search, finder);
	/* there is room for one row more */
	table->rows =
		crit_group_by(&groupings[query->level], search.pieces, search.count, &table->count);
	free(search.pieces);
	if (!table->rows)
		return -ENOMEM;
	rest = not_sampled(&search);
	search.cmetric += rest;
	if (rest && !query->function)
		table->rows[table->count++] =
			(struct crit_hot_row){ .kind = CRIT_HOT_NOT_SAMPLED, .cmetric = rest };
	finish(table, &search);
	return 0;
}

void crit_hot_table_fini(struct crit_hot_table *table)
{
	free(table->rows);
	*table = (struct crit_hot_table){ 0 };
}

enum crit_hot_level crit_hot_level_parse(const char *name)
{
	static const char *const names[CRIT_HOT_LEVEL_COUNT] = { "line", "function", "library" };
	int level = 0;

	while (level < CRIT_HOT_LEVEL_COUNT && strcmp(name, names[level]) != 0)
		level++;
	return (enum crit_hot_level)level;
}

const char *crit_hot_kind_name(enum crit_hot_kind kind)
{
	static const char *const names[CRIT_HOT_KIND_COUNT] = { "code", "unknown", "not_sampled" };

	return kind < CRIT_HOT_KIND_COUNT ? names[kind] : "?";
}

const char *crit_hot_text(const struct crit_hot_row *row, char *text, size_t text_bytes)
{
	const struct crit_source_location *place = &row->place;
	char function[NAME_BYTES], fitted[NAME_BYTES];
	const char *slash = place->module ? strrchr(place->module, '/') : NULL;
	const char *module = slash ? slash + 1 : place->module;

	if (row->kind == CRIT_HOT_NOT_SAMPLED)
		(void)snprintf(text, text_bytes, "not sampled");
	else if (row->kind == CRIT_HOT_UNKNOWN)
		(void)snprintf(text, text_bytes, "in no known file");
	else if (row->level != CRIT_HOT_LIBRARY && !place->function && place->function_begin)
		(void)snprintf(text, text_bytes, "%s+%#" PRIx64, module, place->function_begin);
	else if (row->level == CRIT_HOT_LIBRARY || !place->function)
		(void)snprintf(text, text_bytes, "%s", module);
	else if (row->level == CRIT_HOT_LINE && place->line)
		(void)crit_location_fit(place, PLACE_COLUMNS, text, text_bytes);
	else
		(void)snprintf(
			text, text_bytes, "%s (%s)",
			crit_name_fit(crit_name_scoped(place->function, function, sizeof(function)),
				      PLACE_COLUMNS - (int)strlen(module) - 3, fitted,
				      sizeof(fitted)),
			module);
	return text;
}
