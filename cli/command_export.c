// SPDX-License-Identifier: BSD-3-Clause
// crit export: writes the OTF2 archive of a recording, or a profile of where CMetric was earned.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/results/finish_lock.h"
#include "cli/results/recording_set.h"
#include "cli/console/syntax.h"
#include "cli/results/archive.h"
#include "report/tables/words.h"
#include "core/client/client_env.h"
#include "core/base/line.h"
#include "report/profiles/profile_files.h"

enum {
	OPTION_METRICS = 256,
	OPTION_ALL,
	OPTION_SAMPLES,
	OPTION_WAITS
};

struct export_options {
	struct crit_archive_options trace;
	const struct crit_profile *profile; /* NULL: the archive */
	const char *output; /* NULL: the directory of the run */
};

static const char usage[] =
	"usage: crit export FORMAT [OPTION...] DIRECTORY|FILE...\n"
	"  otf2                 events: traces.otf2, traces.def and traces/\n"
	"  collapsed            CMetric by call path, by samples: cmetric.collapsed for\n"
	"                       flame graphs, in microseconds\n"
	"  speedscope           the same: cmetric.speedscope.json\n"
	"  pprof                the same by line: cmetric.pb.gz\n"
	"  -o, --output=DIR     put files there\n"
	"      --metrics        otf2: CMetric as a counter as well, for Vampir\n"
	"      --all            otf2: service threads, processes without a rank too\n"
	"      --samples        otf2: samples with their call paths, as calling contexts\n"
	"      --waits          otf2: time waited so far as a counter, not with --all\n"
	"  -a, --active=RULE    default, kernel (GAPP's own) or poll-active\n"
	"  -h, --help           this text\n";

static int take_option(int option, void *user);

static const struct option option_names[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "metrics", no_argument, NULL, OPTION_METRICS },
	{ "all", no_argument, NULL, OPTION_ALL },
	{ "samples", no_argument, NULL, OPTION_SAMPLES },
	{ "waits", no_argument, NULL, OPTION_WAITS },
	{ "active", required_argument, NULL, 'a' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static const struct crit_syntax syntax = {
	.command = "crit export",
	.letters = "o:a:h",
	.names = option_names,
	.usage = usage,
	.take = take_option,
};

static int take_option(int option, void *user)
{
	struct export_options *options = user;

	switch (option) {
	case 'o':
		options->output = optarg;
		return CRIT_SYNTAX_GO_ON;
	case 'a':
		if (crit_rule_parse(optarg, &options->trace.rule))
			return crit_syntax_refuse(&syntax, "no activity rule named", optarg);
		return CRIT_SYNTAX_GO_ON;
	case OPTION_METRICS:
		options->trace.has_metrics = true;
		return CRIT_SYNTAX_GO_ON;
	case OPTION_SAMPLES:
		options->trace.has_samples = true;
		return CRIT_SYNTAX_GO_ON;
	case OPTION_WAITS:
		options->trace.has_waits = true;
		return CRIT_SYNTAX_GO_ON;
	default: /* OPTION_ALL */
		options->trace.has_all = true;
		return CRIT_SYNTAX_GO_ON;
	}
}

static int parse(int argc, char **argv, struct export_options *options)
{
	int code = crit_syntax_read(&syntax, argc, argv, options);

	if (code != CRIT_SYNTAX_GO_ON)
		return code;
	if (optind == argc)
		return crit_syntax_refuse(&syntax, "no format given;",
					  "otf2, collapsed, speedscope or pprof");
	options->profile = crit_profile_find(argv[optind]);
	if (!options->profile && strcmp(argv[optind], "otf2") != 0)
		return crit_syntax_refuse(&syntax, "no format named", argv[optind]);
	if (options->profile && (options->trace.has_metrics || options->trace.has_all ||
				 options->trace.has_samples || options->trace.has_waits))
		return crit_syntax_refuse(
			&syntax, "--metrics, --waits, --samples and --all are for otf2, not for",
			argv[optind]);
	if (options->trace.has_waits && options->trace.has_all)
		return crit_syntax_refuse(&syntax, "--waits has threads of the program alone,",
					  "not those of --all");
	if (++optind == argc)
		return crit_syntax_refuse(&syntax, "no recording given;",
					  "name a directory crit-...");
	return CRIT_SYNTAX_GO_ON;
}

static int fail(const struct crit_err *err, int rc)
{
	fprintf(stderr, "crit export: %s\n", err->text[0] ? err->text : strerror(-rc));
	return CRIT_EXIT_FAILED;
}

static int export_profile(struct crit_recording_set *set, const struct export_options *options,
			  const char *directory)
{
	struct crit_analysis *analysis = NULL;
	struct crit_summary summary;
	struct crit_err err = { { 0 } };
	bool is_incomplete = false;
	int rc = crit_recording_set_analyse(set, options->trace.rule, isatty(STDERR_FILENO), NULL,
					    &analysis, &err);

	if (rc)
		return fail(&err, rc);
	rc = crit_analysis_summarise(analysis, false, &summary);
	if (!rc) {
		rc = crit_profile_write(options->profile, directory, &summary, &err);
		is_incomplete = summary.is_incomplete;
		crit_summary_fini(&summary);
	}
	crit_analysis_destroy(analysis);
	if (rc)
		return fail(&err, rc);
	printf("%s/%s\n", directory, crit_profile_file(options->profile));
	return is_incomplete ? CRIT_EXIT_INCOMPLETE : CRIT_EXIT_OK;
}

static int export_archive(struct crit_recording_set *set, struct export_options *options,
			  const char *directory)
{
	struct crit_archive_result result;
	struct crit_err err = { { 0 } };
	int rc;

	options->trace.has_progress = isatty(STDERR_FILENO);
	rc = crit_archive_write(set, directory, &options->trace, &result, &err);
	if (rc)
		return fail(&err, rc);
	if (result.is_cut)
		fprintf(stderr,
			"crit export: the archive ends after %.3f s, where the recording fell "
			"back to level profile\n",
			result.seconds);
	if (result.has_losses)
		fprintf(stderr,
			"crit export: records were lost, so events are missing; crit report "
			"names the losses\n");
	if (!result.are_messages_whole && !result.is_cut && !result.has_losses)
		fprintf(stderr,
			"crit export: messages are missing: a rank died, a request was never "
			"completed, a status does not tell source or size, or a "
			"communicator spans worlds\n");
	printf("%s/traces.otf2\n", directory);
	return result.is_cut || result.has_losses ? CRIT_EXIT_INCOMPLETE : CRIT_EXIT_OK;
}

static int export(struct crit_recording_set *set, struct export_options *options)
{
	const char *directory = options->output ? options->output
						: crit_recording_set_directory(set);

	if (options->output && mkdir(directory, 0777) && errno != EEXIST) {
		crit_line_print(stderr, "crit export: cannot make %s: %s\n", directory,
				strerror(errno));
		return CRIT_EXIT_FAILED;
	}
	return options->profile ? export_profile(set, options, directory)
				: export_archive(set, options, directory);
}

int crit_command_export(int argc, char **argv)
{
	struct export_options options = { .output = NULL };
	struct crit_recording_set *set = crit_recording_set_create(NULL);
	struct crit_client_env env;
	bool is_live;
	struct crit_err err = { { 0 } };
	int code = parse(argc, argv, &options);
	int rc = 0;

	if (code != CRIT_SYNTAX_GO_ON)
		return code;
	for (int i = optind; i < argc && !rc; i++)
		rc = crit_recording_set_add(set, argv[i], &err);
	if (rc) {
		code = fail(&err, rc);
	} else {
		crit_client_env_read(&env);
		is_live = crit_finish_lock_wait_trace(crit_recording_set_directory(set),
						      (int)env.finish_s * 1000) == -ETIMEDOUT;
		if (is_live)
			fprintf(stderr,
				"crit export: the run still goes on; this is what there is so "
				"far\n");
		code = export(set, &options);
		if (is_live && code == CRIT_EXIT_OK)
			code = CRIT_EXIT_INCOMPLETE;
	}
	crit_recording_set_destroy(set);
	return code;
}
