// SPDX-License-Identifier: BSD-3-Clause
// Names a function only where its excess is more than half of all, and no other one's comes near.
#include "report/findings/verdict_excess.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/findings/verdict_path.h"
#include "report/tables/location_fit.h"

#define LEAST_SAMPLES 30u
#define LEAST_SHARE 0.02 /* of the unit's CPU time: smaller functions are not looked at */
#define LEAST_RATIO 0.01 /* of the window: less is no reason to be late */
#define STANDARD_ERRORS 2
#define PLACE_COLUMNS 72
#define TEXT_BYTES 128

struct excess { /* in CPU time, beyond the mean of all units */
	const struct crit_hot_row *row; /* of the unit */
	double s, variance;
};

static bool is_same_text(const char *left, const char *right)
{
	return left && right ? strcmp(left, right) == 0 : left == right;
}

static bool is_same(const struct crit_hot_row *left, const struct crit_hot_row *right)
{
	return left->kind == right->kind &&
	       left->place.function_begin == right->place.function_begin &&
	       is_same_text(left->place.function, right->place.function) &&
	       is_same_text(left->place.module, right->place.module);
}

/* Each sample stands for the time between two, give or take as much: no more is known of it. */
static double variance_of(double cpu_s, uint64_t samples)
{
	return samples ? cpu_s * cpu_s / (double)samples : 0;
}

static struct excess excess_of(const struct crit_hot_row *row, const struct crit_hot_table *all,
			       double units)
{
	struct excess excess = { .row = row };
	double own_s = 1e-9 * (double)row->cpu_ns, others_s = 0;
	uint64_t others = 0;

	for (size_t i = 0; i < all->count; i++) {
		if (!is_same(row, &all->rows[i]))
			continue;
		others_s = 1e-9 * (double)(all->rows[i].cpu_ns - row->cpu_ns);
		others = all->rows[i].samples - row->samples;
		break;
	}
	excess.s = own_s * (1 - 1 / units) - others_s / units;
	excess.variance = variance_of(own_s, row->samples) * (1 - 1 / units) * (1 - 1 / units) +
			  variance_of(others_s, others) / (units * units);
	return excess;
}

/* The function with most of the excess; row NULL: there is no telling. */
static struct excess find(const struct crit_hot_table *functions, const struct crit_hot_table *all,
			  double units)
{
	struct excess first = { 0 }, second = { 0 };
	double sum_s = 0;

	for (size_t i = 0; i < functions->count; i++) {
		const struct crit_hot_row *row = &functions->rows[i];
		struct excess excess;

		if (row->kind == CRIT_HOT_NOT_SAMPLED || row->cpu_share < LEAST_SHARE)
			continue;
		excess = excess_of(row, all, units);
		sum_s += fmax(excess.s, 0);
		if (excess.s > first.s) {
			second = first;
			first = excess;
		} else if (excess.s > second.s) {
			second = excess;
		}
	}
	if (first.s < sum_s / 2 ||
	    first.s - second.s < STANDARD_ERRORS * sqrt(first.variance + second.variance))
		first.row = NULL;
	return first;
}

/* As its own source has it: of what was inlined, the line of the call. */
static struct crit_source_location own_place(const struct crit_source_location *at)
{
	struct crit_source_location place = *at;

	if (place.frame_count) {
		const struct crit_source_frame *outer = &place.frames[place.frame_count - 1];

		place.function = outer->function;
		place.file = outer->file;
		place.line = outer->line;
	}
	return place;
}

static void say(const struct crit_summary *summary, size_t unit_row, const struct excess *excess,
		char *text, size_t text_bytes)
{
	const struct crit_hot_row *row = excess->row;
	const struct crit_source_location place = own_place(&row->place);
	char name[TEXT_BYTES], path[TEXT_BYTES];

	if (row->kind != CRIT_HOT_CODE || !row->place.function || row->samples < LEAST_SAMPLES)
		return;
	crit_verdict_path(summary, &(const struct crit_verdict_place){ unit_row, row, NULL }, path,
			  sizeof(path));
	(void)snprintf(text, text_bytes, ", most of the excess in %s (%.2f +- %.2f s)%s",
		       crit_location_fit(&place, PLACE_COLUMNS, name, sizeof(name)), excess->s,
		       sqrt(excess->variance), path);
}

void crit_verdict_excess(const struct crit_summary *summary, size_t unit_row, bool is_said,
			 char *text, size_t text_bytes)
{
	struct crit_hot_query query = { .level = CRIT_HOT_FUNCTION };
	struct crit_hot_table all, functions = { 0 };
	struct excess excess;

	text[0] = '\0';
	if (crit_hot_table_init(&all, summary->results, &summary->finder, &query))
		return;
	query.is_of_unit = true;
	query.unit_row = unit_row;
	if (all.count &&
	    !crit_hot_table_init(&functions, summary->results, &summary->finder, &query)) {
		excess = find(&functions, &all, summary->lost.peers);
		/* the first one has most CMetric */
		if (excess.row && !(is_said && excess.row == functions.rows) &&
		    excess.s > LEAST_RATIO * summary->lost.window_s)
			say(summary, unit_row, &excess, text, text_bytes);
	}
	crit_hot_table_fini(&functions);
	crit_hot_table_fini(&all);
}
