// SPDX-License-Identifier: BSD-3-Clause
// crit diff: compares the reports of two runs, what changed most first.
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "report/diff/diff_changes.h"
#include "cli/console/syntax.h"
#include "cli/console/terminal.h"
#include "cli/results/predicted.h"
#include "report/diff/difference.h"
#include "report/diff/hot_difference.h"
#include "report/formats/screen.h"
#include "report/tables/location_fit.h"
#include "report/tables/summary.h"
#include "core/base/cleanup.h"
#include "core/base/line.h"
#include "core/base/regular.h"

#define ROWS_SHOWN 8
#define FIGURES_SHOWN 2 /* of a row */
#define NAME_COLUMNS 26
#define PATH_BYTES 4096
#define HOT_COLUMNS 38
#define HOT_BYTES 128
#define HEAD_LINES (2 * CRIT_SCREEN_LINES)

struct diff_options {
	bool is_json, is_predicted;
	unsigned long rows;
};

enum {
	OPTION_JSON = 256,
	OPTION_PREDICTED
};

static const char usage[] =
	"usage: crit diff [OPTION...] A B\n"
	"A and B are directories of runs, or report.json files\n"
	"      --json           print every change as JSON\n"
	"      --predicted      tell when A would end with the times of B, directories\n"
	"  -t, --top=N          rows of each table (8; 0: all)\n"
	"  -h, --help           this text\n"
	"exit: 0 compared, 1 failed, 2 usage, 3 figures that do not compare\n";

static int take_option(int option, void *user);

static const struct option option_names[] = {
	{ "json", no_argument, NULL, OPTION_JSON },
	{ "predicted", no_argument, NULL, OPTION_PREDICTED },
	{ "top", required_argument, NULL, 't' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static const struct crit_syntax syntax = {
	.command = "crit diff",
	.letters = "t:h",
	.names = option_names,
	.usage = usage,
	.take = take_option,
};

static int take_option(int option, void *user)
{
	struct diff_options *options = user;
	char *end;

	if (option == OPTION_JSON) {
		options->is_json = true;
		return CRIT_SYNTAX_GO_ON;
	}
	if (option == OPTION_PREDICTED) {
		options->is_predicted = true;
		return CRIT_SYNTAX_GO_ON;
	}
	errno = 0;
	options->rows = strtoul(optarg, &end, 10);
	if (errno || *end || end == optarg || *optarg == '-')
		return crit_syntax_refuse(&syntax, "no number of rows:", optarg);
	return CRIT_SYNTAX_GO_ON;
}

/* The report of a directory, or the file itself; NULL after a line on stderr. */
static json_t *load(const char *path)
{
	char file[PATH_BYTES];
	struct crit_err err = { { 0 } };
	crit_autofclose FILE *in = NULL;
	json_error_t error;
	struct stat status;
	json_t *report;
	const char *schema;

	(void)snprintf(file, sizeof(file), "%s%s", path,
		       stat(path, &status) == 0 && S_ISDIR(status.st_mode) ? "/report.json" : "");
	in = crit_regular_stream(file, &err);
	if (!in) {
		crit_line_print(stderr, "crit diff: %s; crit report -o DIR writes one\n", err.text);
		return NULL;
	}
	report = json_loadf(in, 0, &error);
	schema = json_string_value(json_object_get(report, "schema"));
	if (report && crit_diff_update(report) == 0)
		return report;
	if (report)
		crit_line_print(stderr,
				"crit diff: %s is no report: its schema is %.40s, not "
				"crit-report/1 or 2\n",
				file, schema ? schema : "missing");
	else
		crit_line_print(stderr, "crit diff: cannot read %s: line %d: %.160s\n", file,
				error.line, error.text);
	json_decref(report);
	return NULL;
}

static const char *text_of(const json_t *report, const char *object, const char *key)
{
	const char *text = json_string_value(json_object_get(json_object_get(report, object), key));

	return text ? text : "?";
}

static bool ends_in(const char *text, const char *end)
{
	size_t length = strlen(text);

	return length >= strlen(end) && !strcmp(text + length - strlen(end), end);
}

/* Seconds, parts of 1, or a count; "-" where there is no such row. */
static const char *number(const char *figure, bool is_there, double value, bool has_sign,
			  char text[32])
{
	int digits = ends_in(figure, "_s")                                   ? 4
		     : ends_in(figure, "_ratio") || ends_in(figure, "share") ? 3
									     : 0;

	if (!is_there)
		return "-";
	(void)snprintf(text, 32, has_sign ? "%+.*f" : "%.*f", digits, value);
	return text;
}

static void print_change(FILE *out, const struct crit_diff_change *change, const char *name)
{
	const char *figure = change->group >= CRIT_DIFF_RANKS ? change->figure : "";
	char a[32], b[32], by[32], ratio[24] = "-";

	if (change->a != 0)
		(void)snprintf(ratio, sizeof(ratio), "%.3f", change->b / change->a);
	if (strlen(name) > NAME_COLUMNS) {
		crit_line_print(out, "  %s\n", name);
		name = "";
	}
	crit_line_print(out, "  %-*s %-13s %10s %10s %10s %7s\n", NAME_COLUMNS, name, figure,
			number(change->figure, change->has_a, change->a, false, a),
			number(change->figure, change->has_b, change->b, false, b),
			number(change->figure, true, crit_diff_by(change), true, by), ratio);
}

static bool is_empty(const struct crit_diff_change *change)
{
	return change->a == 0 && change->b == 0;
}

/* Would the digits shown differ? */
static bool is_same(const struct crit_diff_change *change)
{
	return fabs(crit_diff_by(change)) < 0.0005;
}

/* Prints the rows of one group; answers where the next one begins. */
static size_t print_group(FILE *out, const struct crit_diff *diff, size_t at, unsigned long most)
{
	size_t count;
	const struct crit_diff_change *changes = crit_diff_changes(diff, &count);
	enum crit_diff_group group = changes[at].group;
	const char *row = "";
	unsigned long rows = 0;
	int figures = 0, same = 0;

	fprintf(out, "\n%-*s %-13s %10s %10s %10s %7s\n", NAME_COLUMNS + 2,
		crit_diff_group_name(group), "", "A", "B", "change", "ratio");
	for (; at < count && changes[at].group == group; at++) {
		const struct crit_diff_change *change = &changes[at];
		char name[CRIT_DIFF_NAME_BYTES + 64];

		if (group < CRIT_DIFF_RANKS) {
			if (group == CRIT_DIFF_EFFICIENCY && is_same(change)) {
				same++;
				continue;
			}
			(void)snprintf(name, sizeof(name), "%s %s",
				       group == CRIT_DIFF_EFFICIENCY ? change->name : "run",
				       change->figure);
			print_change(out, change, name);
			continue;
		}
		figures = strcmp(row, change->name) ? 0 : figures + 1;
		rows += figures == 0;
		row = change->name;
		if (figures < FIGURES_SHOWN && !is_empty(change) && (!most || rows <= most))
			print_change(out, change, figures ? "" : row);
	}
	if (most && rows > most)
		fprintf(out, "  and %lu more\n", rows - most);
	if (same)
		fprintf(out, "  and %d that did not change\n", same);
	return at;
}

/* What changed in one sentence, the two verdicts, and what does not compare. */
static int print_head(const struct crit_diff *diff, const json_t *const reports[2],
		      char *const paths[2])
{
	struct crit_screen *screen = crit_screen_create(&(struct crit_screen_options){
		.columns = crit_terminal_columns(STDOUT_FILENO), .limit = HEAD_LINES });
	char text[CRIT_SENTENCE_BYTES + PATH_BYTES];

	if (!screen)
		return -ENOMEM;
	(void)crit_difference_say(reports[0], reports[1], text, sizeof(text));
	crit_screen_wrap(screen, CRIT_PAINT_NONE, text, HEAD_LINES);
	for (int i = 0; i < 2; i++) {
		(void)snprintf(text, sizeof(text), "%c: %s: %s", 'A' + i, paths[i],
			       text_of(reports[i], "verdict", "sentence"));
		crit_screen_wrap(screen, CRIT_PAINT_NONE, text, HEAD_LINES);
	}
	for (size_t i = 0; crit_diff_note(diff, i); i++) {
		(void)snprintf(text, sizeof(text), "does not compare: %s", crit_diff_note(diff, i));
		crit_screen_wrap(screen, CRIT_PAINT_NONE, text, HEAD_LINES);
	}
	crit_screen_write(screen, stdout);
	crit_screen_destroy(screen);
	return 0;
}

static void print_hot_row(FILE *out, const struct crit_hot_difference_row *row)
{
	const struct crit_hot_difference_side *a = &row->sides[0], *b = &row->sides[1];
	const struct crit_source_location place = { .module = "",
						    .function = row->function,
						    .file = *row->file ? row->file : NULL,
						    .line = (uint32_t)row->line };
	char text[HOT_BYTES], name[HOT_BYTES];

	crit_line_print(out, "  %-*s %8.1f %5.1f %8.1f %5.1f %+8.1f %5.1f\n", HOT_COLUMNS,
			place.file
				? crit_location_fit(&place, HOT_COLUMNS, text, sizeof(text))
				: crit_name_fit(crit_name_bare(row->function, name, sizeof(name)),
						HOT_COLUMNS, text, sizeof(text)),
			100 * a->share, 100 * a->error, 100 * b->share, 100 * b->error,
			100 * row->change, 100 * row->error);
}

/* Lines or functions that changed, and how many did not. */
static void print_hot(FILE *out, const struct crit_hot_difference *hot, bool is_line,
		      unsigned long most)
{
	const char *what = is_line ? "lines" : "functions";
	unsigned long changed = 0, same = 0;

	for (size_t i = 0; i < hot->count; i++) {
		const struct crit_hot_difference_row *row = &hot->rows[i];

		if (row->is_line != is_line)
			continue;
		same += !row->is_changed;
		if (!row->is_changed || (++changed > most && most))
			continue;
		if (changed == 1)
			fprintf(out, "\nhot %-*s %8s %5s %8s %5s %8s %5s\n", HOT_COLUMNS - 2, what,
				"A %", "+-", "B %", "+-", "change", "+-");
		print_hot_row(out, row);
	}
	if (most && changed > most)
		fprintf(out, "  and %lu more\n", changed - most);
	if (same)
		fprintf(out, "%s%lu %s whose share of CMetric differs by at most two errors\n",
			changed ? "  and " : "\nhot: ", same, what);
}

static int print_text(const struct crit_diff *diff, const json_t *const reports[2],
		      char *const paths[2], unsigned long most)
{
	int rc = print_head(diff, reports, paths);
	struct crit_hot_difference hot;
	size_t count;

	(void)crit_diff_changes(diff, &count);
	for (size_t at = 0; !rc && at < count;)
		at = print_group(stdout, diff, at, most);
	if (rc)
		return rc;
	rc = crit_hot_difference_init(&hot, reports);
	if (!rc) {
		print_hot(stdout, &hot, true, most);
		print_hot(stdout, &hot, false, most);
	}
	crit_hot_difference_fini(&hot);
	return rc;
}

static json_t *side_of(const json_t *report, const char *path)
{
	return json_pack("{s:o, s:s, s:s, s:O}", "path", crit_difference_path(path), "exe",
			 text_of(report, "job", "exe"), "verdict",
			 text_of(report, "verdict", "sentence"), "window_s",
			 json_object_get(json_object_get(report, "job"), "window_s"));
}

static json_t *number_or_null(bool is_there, double value)
{
	return is_there && isfinite(value) ? json_real(value) : json_null();
}

static json_t *hot_row_json(const struct crit_hot_difference_row *row)
{
	const struct crit_hot_difference_side *a = &row->sides[0], *b = &row->sides[1];

	return json_pack("{s:s, s:s, s:o, s:o, s:f, s:o, s:f, s:o, s:f, s:o, s:b}", "level",
			 row->is_line ? "line" : "function", "function", row->function, "file",
			 *row->file ? json_string(row->file) : json_null(), "line",
			 row->line ? json_integer(row->line) : json_null(), "a", a->share,
			 "a_error", number_or_null(a->error >= 0, a->error), "b", b->share,
			 "b_error", number_or_null(b->error >= 0, b->error), "change", row->change,
			 "change_error", number_or_null(row->error >= 0, row->error), "is_changed",
			 row->is_changed);
}

/* All rows.  NULL: out of memory. */
static json_t *hot_json(const json_t *const reports[2])
{
	struct crit_hot_difference hot;
	json_t *rows = crit_hot_difference_init(&hot, reports) ? NULL : json_array();

	for (size_t i = 0; i < hot.count && rows; i++) {
		if (json_array_append_new(rows, hot_row_json(&hot.rows[i]))) {
			json_decref(rows);
			rows = NULL;
		}
	}
	crit_hot_difference_fini(&hot);
	return rows;
}

static int print_json(const struct crit_diff *diff, const json_t *const reports[2],
		      char *const paths[2])
{
	size_t count;
	const struct crit_diff_change *change = crit_diff_changes(diff, &count);
	json_t *changes = json_array();
	json_t *notes = json_array();
	char sentence[CRIT_SENTENCE_BYTES];
	json_t *root;
	int rc;

	for (size_t i = 0; crit_diff_note(diff, i); i++)
		(void)json_array_append_new(notes, json_string(crit_diff_note(diff, i)));
	for (const struct crit_diff_change *end = change + count; change < end; change++) {
		(void)json_array_append_new(
			changes, json_pack("{s:s, s:s, s:s, s:o, s:o, s:f, s:o}", "group",
					   crit_diff_group_name(change->group), "name",
					   change->name, "figure", change->figure, "a",
					   number_or_null(change->has_a, change->a), "b",
					   number_or_null(change->has_b, change->b), "change",
					   crit_diff_by(change), "ratio",
					   number_or_null(change->a != 0, change->b / change->a)));
	}
	root = json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "schema", "crit-diff/1", "sentence",
			 crit_difference_say(reports[0], reports[1], sentence, sizeof(sentence)),
			 "a", side_of(reports[0], paths[0]), "b", side_of(reports[1], paths[1]),
			 "does_not_compare", notes, "changes", changes, "hot", hot_json(reports));
	rc = root ? json_dumpf(root, stdout, JSON_SORT_KEYS | JSON_INDENT(1)) : -1;
	(void)fputc('\n', stdout);
	json_decref(root);
	return rc;
}

static int compare(const json_t *const reports[2], char *const paths[2],
		   const struct diff_options *options)
{
	struct crit_diff *diff = NULL;
	int code = CRIT_EXIT_OK;
	int rc = crit_diff_create(reports[0], reports[1], &diff);

	if (rc) {
		fprintf(stderr, "crit diff: %s\n", strerror(-rc));
		return CRIT_EXIT_FAILED;
	}
	if (options->is_json)
		rc = print_json(diff, reports, paths);
	else
		rc = print_text(diff, reports, paths, options->rows);
	if (rc && !ferror(stdout)) { /* main tells that */
		fprintf(stderr, "crit diff: out of memory\n");
		code = CRIT_EXIT_FAILED;
	} else if (crit_diff_is_incomplete(diff)) {
		code = CRIT_EXIT_INCOMPLETE;
	}
	crit_diff_destroy(diff);
	return code;
}

int crit_command_diff(int argc, char **argv)
{
	struct diff_options options = { .rows = ROWS_SHOWN };
	json_t *reports[2];
	int code = crit_syntax_read(&syntax, argc, argv, &options);

	if (code != CRIT_SYNTAX_GO_ON)
		return code;
	if (argc - optind != 2)
		return crit_syntax_refuse(&syntax, "two runs are compared;",
					  "name two directories crit-...");
	if (options.is_predicted)
		return crit_predicted_run(argv + optind, options.is_json);
	reports[0] = load(argv[optind]);
	reports[1] = reports[0] ? load(argv[optind + 1]) : NULL;
	code = CRIT_EXIT_FAILED;
	if (reports[1])
		code = compare((const json_t *const *)reports, argv + optind, &options);
	json_decref(reports[0]);
	json_decref(reports[1]);
	return code;
}
