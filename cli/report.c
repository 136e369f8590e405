// SPDX-License-Identifier: BSD-3-Clause
/* crit report: prints the report of a recording, or writes the result files elsewhere. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/place.h"
#include "cli/recording_set.h"
#include "cli/writers.h"
#include "core/cleanup.h"
#include "core/client_env.h"

enum format {
	FORMAT_TEXT = 0,
	FORMAT_JSON,
	FORMAT_RANKS,
	FORMAT_THREADS
};

struct report_options {
	enum crit_active_rule rule;
	enum format format;
	const char *output; /* NULL: stdout */
};

enum {
	OPTION_JSON = 256,
	OPTION_CSV
};

static void print_usage(FILE *out)
{
	(void)fprintf(
		out,
		"usage: crit report [OPTION...] DIRECTORY|FILE...\n"
		"  -a, --active=RULE    default, kernel (GAPP's own) or poll-active\n"
		"      --json           print report.json instead of report.txt\n"
		"      --csv=TABLE      print a table: ranks or threads\n"
		"  -o, --output=DIR     write report.txt, report.json and both tables into DIR\n"
		"  -h, --help           this text\n");
}

static int usage(const char *reason, const char *what)
{
	(void)fprintf(stderr, "crit report: %s %s; see crit report --help\n", reason, what);
	return CRIT_EXIT_USAGE;
}

/* Answers -1 to go on, else the exit code. */
static int parse_one(int option, struct report_options *options)
{
	switch (option) {
	case 'a':
		if (crit_rule_parse(optarg, &options->rule))
			return usage("no activity rule named", optarg);
		return -1;
	case 'o':
		options->output = optarg;
		return -1;
	case OPTION_JSON:
		options->format = FORMAT_JSON;
		return -1;
	case OPTION_CSV:
		if (strcmp(optarg, "ranks") && strcmp(optarg, "threads"))
			return usage("no table named", optarg);
		options->format = *optarg == 'r' ? FORMAT_RANKS : FORMAT_THREADS;
		return -1;
	case 'h':
		print_usage(stdout);
		return CRIT_EXIT_OK;
	default:
		print_usage(stderr);
		return CRIT_EXIT_USAGE;
	}
}

static int parse(int argc, char **argv, struct report_options *options)
{
	static const struct option names[] = {
		{ "active", required_argument, NULL, 'a' },
		{ "json", no_argument, NULL, OPTION_JSON },
		{ "csv", required_argument, NULL, OPTION_CSV },
		{ "output", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	int option;

	optind = 1;
	while ((option = getopt_long(argc, argv, "a:o:h", names, NULL)) != -1) {
		int code = parse_one(option, options);

		if (code >= 0)
			return code;
	}
	if (optind == argc) {
		(void)fprintf(stderr,
			      "crit report: no recording given; name a directory crit-...\n");
		return CRIT_EXIT_USAGE;
	}
	return -1;
}

static int print_result(const struct crit_summary *summary, enum format format)
{
	const char *no_color = getenv("NO_COLOR");
	struct crit_text_options text = { .has_colour = isatty(STDOUT_FILENO) &&
							!(no_color && *no_color) };
	int status = 0;

	if (format == FORMAT_JSON)
		status = crit_write_json(stdout, summary);
	else if (format == FORMAT_RANKS)
		crit_write_ranks_csv(stdout, summary);
	else if (format == FORMAT_THREADS)
		crit_write_threads_csv(stdout, summary);
	else
		crit_write_text(stdout, summary, &text);
	errno = 0;
	if (!status && (fflush(stdout) || ferror(stdout)))
		status = errno ? -errno : -EIO;
	if (status) {
		(void)fprintf(stderr, "crit report: cannot write to stdout: %s\n",
			      strerror(-status));
		return CRIT_EXIT_FAILED;
	}
	return CRIT_EXIT_OK;
}

static int write_result(const struct crit_summary *summary, const char *directory)
{
	struct crit_err err = { { 0 } };
	crit_autoclose int fd = -1;

	if (mkdir(directory, 0777) && errno != EEXIST) {
		(void)fprintf(stderr, "crit report: cannot make %s: %s\n", directory,
			      strerror(errno));
		return CRIT_EXIT_FAILED;
	}
	fd = open(directory, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		(void)fprintf(stderr, "crit report: cannot open %s: %s\n", directory,
			      strerror(errno));
		return CRIT_EXIT_FAILED;
	}
	if (crit_write_all(fd, directory, summary, &err)) {
		(void)fprintf(stderr, "crit report: %s\n", err.text);
		return CRIT_EXIT_FAILED;
	}
	return CRIT_EXIT_OK;
}

static int report(const struct crit_recording_set *set, const struct report_options *options)
{
	struct crit_analysis analysis = { 0 };
	struct crit_summary summary;
	struct crit_err err = { { 0 } };
	char critd_path[PATH_MAX];
	struct crit_summary_options summary_options = { .critd_path = critd_path,
							.is_live = set->is_live };
	int status = crit_recording_set_analyse(set, options->rule, isatty(STDERR_FILENO),
						&analysis, &err);
	int code;

	if (status) {
		(void)fprintf(stderr, "crit report: %s\n",
			      err.text[0] ? err.text : strerror(-status));
		return CRIT_EXIT_FAILED;
	}
	(void)crit_place_program("critd", critd_path,
				 sizeof(critd_path)); /* the bare name will do */
	summary_options.may_wait = analysis.may_wait;
	summary_options.sites = &analysis.sites;
	if (crit_summary_init(&summary, analysis.results, &summary_options)) {
		(void)fprintf(stderr, "crit report: out of memory\n");
		crit_analysis_fini(&analysis);
		return CRIT_EXIT_FAILED;
	}
	code = options->output ? write_result(&summary, options->output)
			       : print_result(&summary, options->format);
	if (code == CRIT_EXIT_OK && summary.is_incomplete)
		code = CRIT_EXIT_INCOMPLETE;
	crit_summary_fini(&summary);
	crit_analysis_fini(&analysis);
	return code;
}

int crit_command_report(int argc, char **argv)
{
	struct report_options options = { 0 };
	struct crit_recording_set set = { 0 };
	struct crit_client_env env;
	struct crit_err err = { { 0 } };
	int code = parse(argc, argv, &options);

	if (code >= 0)
		return code;
	for (int i = optind; i < argc; i++) {
		int status = crit_recording_set_add(&set, argv[i], &err);

		if (status) {
			(void)fprintf(stderr, "crit report: %s\n",
				      err.text[0] ? err.text : strerror(-status));
			crit_recording_set_fini(&set);
			return CRIT_EXIT_FAILED;
		}
	}
	crit_client_env_read(&env);
	set.is_live = crit_finish_wait(set.directory, (int)env.finish_s * 1000) == -ETIMEDOUT;
	if (set.is_live)
		(void)fprintf(stderr,
			      "crit report: the run still goes on; this is what there is so far\n");
	code = report(&set, &options);
	if (set.is_live && code == CRIT_EXIT_OK)
		code = CRIT_EXIT_INCOMPLETE;
	crit_recording_set_fini(&set);
	return code;
}
