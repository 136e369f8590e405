// SPDX-License-Identifier: BSD-3-Clause
// Adds up rows of hot[] by name on each side, and compares the shares.
#include "report/diff/hot_difference.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/array.h"

#define STANDARD_ERRORS 2

struct of_run { /* sums over hot[] of a report */
	double cmetric_s;
	double samples;
};

static const char *text_of(const json_t *row, const char *key)
{
	const char *text = json_string_value(json_object_get(row, key));

	return text ? text : "";
}

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static const char *function_of(const json_t *row)
{
	if (strcmp(text_of(row, "kind"), "unknown") == 0)
		return "in no known file";
	return *text_of(row, "function") ? text_of(row, "function")
					 : file_name(text_of(row, "module"));
}

static bool is_same(const struct crit_hot_difference_row *row,
		    const struct crit_hot_difference_row *other)
{
	return row->is_line == other->is_line && row->line == other->line &&
	       strcmp(row->function, other->function) == 0 && strcmp(row->file, other->file) == 0;
}

/* The row that is named so, added when new; NULL: out of memory. */
static struct crit_hot_difference_row *obtain(struct crit_hot_difference *hot,
					      const struct crit_hot_difference_row *wanted)
{
	struct crit_hot_difference_row *row;

	for (size_t i = 0; i < hot->count; i++)
		if (is_same(&hot->rows[i], wanted))
			return &hot->rows[i];
	if (crit_array_grow(&hot->rows, &hot->capacity, hot->count + 1, sizeof(*hot->rows)))
		return NULL;
	row = &hot->rows[hot->count++];
	*row = *wanted;
	row->function = strdup(wanted->function);
	row->file = strdup(wanted->file);
	return row->function && row->file ? row : NULL;
}

/*
 * Adds a row of hot[] to one of the table.  The standard error of a sum is at most the sum of those
 * of its parts.
 */
static int add(struct crit_hot_difference *hot, const struct crit_hot_difference_row *wanted,
	       int side, const json_t *from, const struct of_run *run)
{
	struct crit_hot_difference_row *row = obtain(hot, wanted);
	const json_t *error = json_object_get(from, "error_s");
	struct crit_hot_difference_side *sum;

	if (!row)
		return -ENOMEM;
	sum = &row->sides[side];
	sum->is_there = true;
	sum->share += json_number_value(json_object_get(from, "cmetric_s")) / run->cmetric_s;
	if (json_is_number(error) && sum->error >= 0)
		sum->error += json_number_value(error) / run->cmetric_s;
	else
		sum->error = -1;
	return 0;
}

static struct of_run sum_up(const json_t *rows)
{
	struct of_run run = { 0 };
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
	{
		run.cmetric_s += json_number_value(json_object_get(row, "cmetric_s"));
		run.samples += json_number_value(json_object_get(row, "samples"));
	}
	return run;
}

static int add_side(struct crit_hot_difference *hot, const json_t *rows, int side)
{
	const struct of_run run = sum_up(rows);
	const json_t *from;
	size_t i;
	int rc = 0;

	json_array_foreach(rows, i, from)
	{
		struct crit_hot_difference_row wanted = { .function = (char *)function_of(from),
							  .file = (char *)"" };

		if (strcmp(text_of(from, "kind"), "not_sampled") == 0)
			continue;
		if (!rc)
			rc = add(hot, &wanted, side, from, &run);
		wanted.is_line = true;
		wanted.file = (char *)file_name(text_of(from, "file"));
		wanted.line = json_integer_value(json_object_get(from, "line"));
		if (!rc)
			rc = add(hot, &wanted, side, from, &run);
	}
	return rc;
}

/*
 * Two standard errors of a part that no sample met.  Source: the rule of three, Hanley and
 * Lippman-Hand, JAMA 249 (1983).
 */
static double least_error(const struct of_run *run)
{
	return 3 / run->samples / STANDARD_ERRORS;
}

static void compare(struct crit_hot_difference_row *row, const struct of_run runs[2])
{
	for (int i = 0; i < 2; i++)
		if (!row->sides[i].is_there)
			row->sides[i].error = least_error(&runs[i]);
	row->change = row->sides[1].share - row->sides[0].share;
	row->error = row->sides[0].error < 0 || row->sides[1].error < 0
			     ? -1
			     : hypot(row->sides[0].error, row->sides[1].error);
	row->is_changed = row->error >= 0 && fabs(row->change) > STANDARD_ERRORS * row->error;
}

static int compare_rows(const void *left, const void *right)
{
	const struct crit_hot_difference_row *a = left, *b = right;

	if (a->is_line != b->is_line)
		return a->is_line ? -1 : 1;
	if (a->is_changed != b->is_changed)
		return a->is_changed ? -1 : 1;
	if (fabs(a->change) != fabs(b->change))
		return fabs(a->change) < fabs(b->change) ? 1 : -1;
	return strcmp(a->function, b->function);
}

int crit_hot_difference_init(struct crit_hot_difference *hot, const json_t *const reports[2])
{
	struct of_run runs[2];
	int rc = 0;

	*hot = (struct crit_hot_difference){ 0 };
	for (int i = 0; i < 2; i++) {
		runs[i] = sum_up(json_object_get(reports[i], "hot"));
		if (!(runs[i].cmetric_s > 0) || !(runs[i].samples > 0))
			return 0;
	}
	for (int i = 0; i < 2 && !rc; i++)
		rc = add_side(hot, json_object_get(reports[i], "hot"), i);
	for (size_t i = 0; i < hot->count && !rc; i++)
		compare(&hot->rows[i], runs);
	if (!rc && hot->count)
		qsort(hot->rows, hot->count, sizeof(*hot->rows), compare_rows);
	return rc;
}

void crit_hot_difference_fini(struct crit_hot_difference *hot)
{
	for (size_t i = 0; i < hot->count; i++) {
		free(hot->rows[i].function);
		free(hot->rows[i].file);
	}
	free(hot->rows);
	*hot = (struct crit_hot_difference){ 0 };
}
