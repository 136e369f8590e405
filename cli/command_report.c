// SPDX-License-Identifier: BSD-3-Clause
// crit report: prints the report of a recording, or writes the result files elsewhere.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/results/finish_lock.h"
#include "cli/results/recording_set.h"
#include "cli/console/syntax.h"
#include "cli/console/terminal.h"
#include "core/client/client_env.h"
#include "report/pages/hot_text.h"
#include "report/pages/report_csv.h"
#include "report/pages/report_files.h"
#include "report/pages/report_json.h"
#include "report/pages/report_summary.h"
#include "report/pages/report_text.h"

enum format {
	FORMAT_TEXT = 0,
	FORMAT_JSON,
	FORMAT_SUMMARY,
	FORMAT_TABLE,
	FORMAT_HOT,
	FORMAT_PATHS
};

enum colour {
	COLOUR_AUTO = 0, /* on a terminal, unless NO_COLOR is set */
	COLOUR_ALWAYS,
	COLOUR_NEVER,
	COLOUR_COUNT
};

struct report_options {
	enum crit_active_rule rule;
	enum format format;
	const struct crit_csv *table; /* FORMAT_TABLE: which one */
	enum crit_hot_level level; /* FORMAT_HOT: rows of which */
	enum colour colour;
	uint32_t active_max; /* 0: --n-min was not given */
	const char *output; /* NULL: stdout */
};

enum {
	OPTION_JSON = 256,
	OPTION_CSV,
	OPTION_BY,
	OPTION_N_MIN,
	OPTION_SUMMARY,
	OPTION_COLOUR
};

static const char usage[] =
	"usage: crit report [OPTION...] DIRECTORY|FILE...\n"
	"  -a, --active=RULE    default, kernel (GAPP's own) or poll-active\n"
	"      --json           print report.json instead of report.txt\n"
	"      --summary        print the verdict and the main figures, one a line\n"
	"      --csv=TABLE      print a table: ranks, threads, regions, calls,\n"
	"                       rank_calls, sites, hot, messages, collectives\n"
	"      --by=LEVEL       print where CMetric was earned, by samples: line,\n"
	"                       function, library or path (function and callers)\n"
	"      --n-min=N        with --by: only of the time in which at most N threads\n"
	"                       were active\n"
	"      --color=WHEN     auto (on a terminal, without NO_COLOR), always or never\n"
	"  -o, --output=DIR     write report.txt, report.json and all tables into DIR\n"
	"  -h, --help           this text\n";

static int take_option(int option, void *user);

static const struct option option_names[] = {
	{ "active", required_argument, NULL, 'a' },
	{ "json", no_argument, NULL, OPTION_JSON },
	{ "summary", no_argument, NULL, OPTION_SUMMARY },
	{ "csv", required_argument, NULL, OPTION_CSV },
	{ "by", required_argument, NULL, OPTION_BY },
	{ "n-min", required_argument, NULL, OPTION_N_MIN },
	{ "color", required_argument, NULL, OPTION_COLOUR },
	{ "output", required_argument, NULL, 'o' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static const struct crit_syntax syntax = {
	.command = "crit report",
	.letters = "a:o:h",
	.names = option_names,
	.usage = usage,
	.take = take_option,
};

static int take_colour(struct report_options *options)
{
	static const char *const names[COLOUR_COUNT] = { "auto", "always", "never" };

	for (int i = 0; i < COLOUR_COUNT; i++)
		if (!strcmp(optarg, names[i])) {
			options->colour = (enum colour)i;
			return CRIT_SYNTAX_GO_ON;
		}
	return crit_syntax_refuse(&syntax, "no choice of colour named", optarg);
}

static int take_n_min(struct report_options *options)
{
	char *end;
	const unsigned long value = strtoul(optarg, &end, 10);

	if (*optarg < '1' || *optarg > '9' || *end || value >= UINT32_MAX)
		return crit_syntax_refuse(&syntax, "no number of threads:", optarg);
	options->active_max = (uint32_t)value;
	return CRIT_SYNTAX_GO_ON;
}

static int take_option(int option, void *user)
{
	struct report_options *options = user;

	switch (option) {
	case 'a':
		if (crit_rule_parse(optarg, &options->rule))
			return crit_syntax_refuse(&syntax, "no activity rule named", optarg);
		return CRIT_SYNTAX_GO_ON;
	case 'o':
		options->output = optarg;
		return CRIT_SYNTAX_GO_ON;
	case OPTION_N_MIN:
		return take_n_min(options);
	case OPTION_COLOUR:
		return take_colour(options);
	case OPTION_JSON:
		options->format = FORMAT_JSON;
		return CRIT_SYNTAX_GO_ON;
	case OPTION_SUMMARY:
		options->format = FORMAT_SUMMARY;
		return CRIT_SYNTAX_GO_ON;
	case OPTION_BY:
		options->format = strcmp(optarg, "path") ? FORMAT_HOT : FORMAT_PATHS;
		if (options->format == FORMAT_PATHS)
			return CRIT_SYNTAX_GO_ON;
		options->level = crit_hot_level_parse(optarg);
		if (options->level < CRIT_HOT_LEVEL_COUNT)
			return CRIT_SYNTAX_GO_ON;
		return crit_syntax_refuse(&syntax, "no rows by", optarg);
	default: /* OPTION_CSV */
		options->format = FORMAT_TABLE;
		options->table = crit_csv_find(optarg);
		if (options->table)
			return CRIT_SYNTAX_GO_ON;
		return crit_syntax_refuse(&syntax, "no table named", optarg);
	}
}

static int parse(int argc, char **argv, struct report_options *options)
{
	int code = crit_syntax_read(&syntax, argc, argv, options);

	if (code == CRIT_SYNTAX_GO_ON && optind == argc)
		return crit_syntax_refuse(&syntax, "no recording given;",
					  "name a directory crit-...");
	if (code == CRIT_SYNTAX_GO_ON && options->active_max && options->format != FORMAT_HOT &&
	    options->format != FORMAT_PATHS)
		return crit_syntax_refuse(&syntax, "--n-min goes with", "--by");
	if (code == CRIT_SYNTAX_GO_ON && options->output && options->format != FORMAT_TEXT)
		return crit_syntax_refuse(&syntax, "--output writes all files into a directory;",
					  "redirect what --json, --summary, --csv or --by print");
	return code;
}

static int print_result(const struct crit_summary *summary, const struct report_options *options)
{
	const char *no_color = getenv("NO_COLOR");
	bool is_plain = !isatty(STDOUT_FILENO) || (no_color && *no_color);
	struct crit_text_options text = {
		.has_colour = options->colour == COLOUR_AUTO ? !is_plain
							     : options->colour == COLOUR_ALWAYS,
		.columns = crit_terminal_columns(STDOUT_FILENO),
	};
	int rc = 0;

	if (options->format == FORMAT_JSON)
		rc = crit_write_json(stdout, summary);
	else if (options->format == FORMAT_SUMMARY)
		crit_write_summary(stdout, summary);
	else if (options->format == FORMAT_HOT)
		rc = crit_hot_text_write_by(stdout, summary, options->level);
	else if (options->format == FORMAT_PATHS)
		rc = crit_hot_text_write_by_path(stdout, summary);
	else if (options->format == FORMAT_TABLE)
		crit_csv_write(options->table, stdout, summary);
	else
		crit_write_text(stdout, summary, &text);
	if (rc == -ENODATA || rc == -ENOENT) {
		fprintf(stderr, "crit report: the recordings have no %s\n",
			rc == -ENODATA ? "samples" : "call paths");
		return CRIT_EXIT_FAILED;
	}
	if (rc && !ferror(stdout)) { /* main tells that */
		fprintf(stderr, "crit report: %s\n", strerror(-rc));
		return CRIT_EXIT_FAILED;
	}
	return CRIT_EXIT_OK;
}

static int write_result(const struct crit_summary *summary, const char *directory)
{
	struct crit_err err = { { 0 } };

	if (!crit_report_files_write_into(directory, summary, &err))
		return CRIT_EXIT_OK;
	fprintf(stderr, "crit report: %s\n", err.text);
	return CRIT_EXIT_FAILED;
}

static int report(struct crit_recording_set *set, bool is_live,
		  const struct report_options *options)
{
	struct crit_analysis *analysis = NULL;
	struct crit_summary summary;
	struct crit_err err = { { 0 } };
	int rc = crit_recording_set_analyse(set, options->rule, isatty(STDERR_FILENO), NULL,
					    &analysis, &err);
	int code;

	if (rc) {
		fprintf(stderr, "crit report: %s\n", err.text[0] ? err.text : strerror(-rc));
		return CRIT_EXIT_FAILED;
	}
	if (crit_analysis_summarise(analysis, is_live, &summary)) {
		fprintf(stderr, "crit report: out of memory\n");
		crit_analysis_destroy(analysis);
		return CRIT_EXIT_FAILED;
	}
	code = options->output ? write_result(&summary, options->output)
			       : print_result(&summary, options);
	if (code == CRIT_EXIT_OK && summary.is_incomplete)
		code = CRIT_EXIT_INCOMPLETE;
	crit_summary_fini(&summary);
	crit_analysis_destroy(analysis);
	return code;
}

int crit_command_report(int argc, char **argv)
{
	struct report_options options = { 0 };
	struct crit_recording_set *set = crit_recording_set_create(NULL);
	struct crit_client_env env;
	bool is_live;
	struct crit_err err = { { 0 } };
	int code = parse(argc, argv, &options);

	if (code != CRIT_SYNTAX_GO_ON)
		return code;
	for (int i = optind; i < argc; i++) {
		int rc = crit_recording_set_add(set, argv[i], &err);

		if (rc) {
			fprintf(stderr, "crit report: %s\n",
				err.text[0] ? err.text : strerror(-rc));
			crit_recording_set_destroy(set);
			return CRIT_EXIT_FAILED;
		}
	}
	crit_client_env_read(&env);
	crit_recording_set_gate(set, options.active_max);
	if (options.format == FORMAT_TEXT || options.format == FORMAT_JSON ||
	    options.format == FORMAT_SUMMARY || options.output)
		crit_recording_set_film(set, CRIT_FILM_REPORT);
	is_live = crit_finish_lock_wait(crit_recording_set_directory(set),
					(int)env.finish_s * 1000) == -ETIMEDOUT;
	if (is_live)
		fprintf(stderr,
			"crit report: the run still goes on; this is what there is so far\n");
	code = report(set, is_live, &options);
	if (is_live && code == CRIT_EXIT_OK)
		code = CRIT_EXIT_INCOMPLETE;
	crit_recording_set_destroy(set);
	return code;
}
