// SPDX-License-Identifier: BSD-3-Clause
// Names functions and lines only where samples tell them from the others by two standard errors.
#include "report/findings/verdict_hot.h"

#include <stdio.h>
#include <string.h>

#include "report/findings/verdict_path.h"
#include "report/tables/location_fit.h"

#define LEAST_SAMPLES 30u
#define LEAST_BATCHES 8u /* fewer do not tell how samples scatter */
#define LEAST_SHARE 0.1
#define STANDARD_ERRORS 2
#define PLACE_COLUMNS 72
#define TEXT_BYTES 128

struct ranking {
	const struct crit_summary *summary;
	size_t unit_row;
	struct crit_hot_table functions, lines; /* of the unit */
	double cmetric_s; /* of the unit */
	uint32_t batch_count;
};

static const struct crit_hot_row *row_at(const struct crit_hot_table *table, size_t index)
{
	static const struct crit_hot_row nothing;

	return index < table->count ? &table->rows[index] : &nothing;
}

/* Does the first one have more than the one at index, beyond chance? */
static bool leads(const struct ranking *ranking, const struct crit_hot_table *table, size_t index)
{
	const struct crit_hot_row *first = row_at(table, 0), *other = row_at(table, index);
	double error_s = crit_hot_error_s(first, -1, other, ranking->batch_count);

	return crit_fix_seconds(first->cmetric - other->cmetric) > STANDARD_ERRORS * error_s;
}

static bool is_named(const struct crit_hot_row *row)
{
	return row->kind == CRIT_HOT_CODE && row->place.function;
}

/* Is the line in code of the function, itself or inlined? */
static bool is_part_of(const struct crit_hot_row *line, const struct crit_hot_row *function)
{
	const struct crit_source_location *place = &line->place;
	const char *outer = place->function;

	if (!is_named(line) || !place->line || strcmp(place->module, function->place.module) != 0)
		return false;
	if (place->frame_count)
		outer = place->frames[place->frame_count - 1].function;
	return outer && strcmp(outer, function->place.function) == 0;
}

/* "71 +- 4%" */
static const char *share_of(const struct ranking *ranking, const struct crit_hot_row *row,
			    char *text, size_t text_bytes)
{
	(void)snprintf(text, text_bytes, "%.0f +- %.0f%%", 100 * row->share,
		       100 * row->error_s / ranking->cmetric_s);
	return text;
}

/* The first two lines are the function's and cannot be told apart; no third one comes near. */
static bool has_two_lines(const struct ranking *ranking, const struct crit_hot_row *function)
{
	const struct crit_hot_row *first = row_at(&ranking->lines, 0);
	const struct crit_hot_row *next = row_at(&ranking->lines, 1);

	return is_part_of(first, function) && is_part_of(next, function) &&
	       !leads(ranking, &ranking->lines, 1) && leads(ranking, &ranking->lines, 2) &&
	       first->place.file && next->place.file &&
	       strcmp(first->place.file, next->place.file) == 0;
}

/* ", 71 +- 1% of its CMetric in f solver.f90:37 or 36" */
static void say_two_lines(const struct ranking *ranking, char *text, size_t text_bytes)
{
	const struct crit_hot_row *function = row_at(&ranking->functions, 0);
	const struct crit_hot_row *next = row_at(&ranking->lines, 1);
	struct crit_source_location place = row_at(&ranking->lines, 0)->place;
	char name[TEXT_BYTES], share[32], path[TEXT_BYTES];

	crit_verdict_path(ranking->summary,
			  &(const struct crit_verdict_place){ ranking->unit_row, function, NULL },
			  path, sizeof(path));
	place.function = function->place.function;
	(void)snprintf(text, text_bytes, ", %s of its CMetric in %s or %u%s",
		       share_of(ranking, function, share, sizeof(share)),
		       crit_location_fit(&place, PLACE_COLUMNS, name, sizeof(name)),
		       next->place.line, path);
}

static void say_first(const struct ranking *ranking, char *text, size_t text_bytes)
{
	const struct crit_hot_row *function = row_at(&ranking->functions, 0);
	const struct crit_hot_row *line = row_at(&ranking->lines, 0);
	const bool has_line = is_part_of(line, function) && leads(ranking, &ranking->lines, 1);
	struct crit_source_location place = line->place;
	char name[TEXT_BYTES], line_name[TEXT_BYTES], share[32], line_share[32];
	char path[TEXT_BYTES];

	crit_verdict_path(ranking->summary,
			  &(const struct crit_verdict_place){ ranking->unit_row, function,
							      has_line ? line : NULL },
			  path, sizeof(path));
	(void)share_of(ranking, function, share, sizeof(share));
	(void)share_of(ranking, line, line_share, sizeof(line_share));
	if (has_line && strcmp(share, line_share) == 0) {
		place.function = function->place.function;
		(void)snprintf(text, text_bytes, ", %s of its CMetric in %s%s", share,
			       crit_location_fit(&place, PLACE_COLUMNS, name, sizeof(name)), path);
		return;
	}
	place.function = NULL;
	(void)snprintf(text, text_bytes, ", %s of its CMetric in %s%s%s%s%s%s", share,
		       crit_hot_text(function, name, sizeof(name)), has_line ? ", " : "",
		       has_line ? line_share : "", has_line ? " at " : "",
		       has_line ? crit_location_fit(&place, PLACE_COLUMNS, line_name,
						    sizeof(line_name))
				: "",
		       path);
}

/* The first two: together they have more than half, and no third comes near. */
static void say_two(const struct ranking *ranking, char *text, size_t text_bytes)
{
	const struct crit_hot_table *functions = &ranking->functions;
	const struct crit_hot_row *first = row_at(functions, 0), *next = row_at(functions, 1);
	double error_s = crit_hot_error_s(first, 1, next, ranking->batch_count);
	double both_s = crit_fix_seconds(first->cmetric + next->cmetric);
	char name[TEXT_BYTES], next_name[TEXT_BYTES];

	if (is_named(next) && leads(ranking, functions, 2) &&
	    both_s - STANDARD_ERRORS * error_s > ranking->cmetric_s / 2)
		(void)snprintf(text, text_bytes, ", mostly in %s or %s",
			       crit_hot_text(first, name, sizeof(name)),
			       crit_hot_text(next, next_name, sizeof(next_name)));
}

static bool say(struct ranking *ranking, char *text, size_t text_bytes)
{
	const struct crit_hot_row *first = row_at(&ranking->functions, 0);
	uint64_t samples = 0;

	for (size_t i = 0; i < ranking->functions.count; i++) {
		const struct crit_hot_row *row = &ranking->functions.rows[i];

		samples += row->cmetric ? row->samples : 0;
		ranking->cmetric_s += crit_fix_seconds(row->cmetric);
	}
	if (samples < LEAST_SAMPLES || !is_named(first) || first->share < LEAST_SHARE)
		return false;
	if (leads(ranking, &ranking->functions, 1)) {
		if (has_two_lines(ranking, first))
			say_two_lines(ranking, text, text_bytes);
		else
			say_first(ranking, text, text_bytes);
		return true;
	}
	say_two(ranking, text, text_bytes);
	return false;
}

bool crit_verdict_hot(struct crit_summary *summary, size_t unit_row, char *text, size_t text_bytes)
{
	struct crit_hot_query query = { .level = CRIT_HOT_FUNCTION,
					.is_of_unit = true,
					.unit_row = unit_row };
	struct ranking ranking = { .summary = summary,
				   .unit_row = unit_row,
				   .batch_count = summary->results->samples.batch_count };

	bool is_single = false;

	text[0] = '\0';
	if (ranking.batch_count < LEAST_BATCHES ||
	    crit_hot_table_init(&ranking.functions, summary->results, &summary->finder, &query))
		return false;
	query.level = CRIT_HOT_LINE;
	if (!crit_hot_table_init(&ranking.lines, summary->results, &summary->finder, &query))
		is_single = say(&ranking, text, text_bytes);
	crit_hot_table_fini(&ranking.lines);
	crit_hot_table_fini(&ranking.functions);
	return is_single;
}
