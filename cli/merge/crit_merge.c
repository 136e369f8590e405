// SPDX-License-Identifier: BSD-3-Clause
// crit-merge: several processes make the report of one run.
#include "cli/merge/crit_merge.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/results/finish_lock.h"
#include "cli/results/recording_set.h"
#include "cli/console/syntax.h"
#include "cli/results/archive.h"
#include "core/client/client_env.h"
#include "core/base/line.h"
#include "report/pages/report_files.h"

struct merge_options {
	enum crit_active_rule rule;
	const char *output; /* NULL: beside the recordings */
};

static const char usage[] = "usage: mpirun [...] crit-merge [OPTION...] DIRECTORY|FILE...\n"
			    "  -a, --active=RULE    default, kernel (GAPP's own) or poll-active\n"
			    "  -o, --output=DIR     write report, tables and archive into DIR\n"
			    "                       instead of the directory of the recordings\n"
			    "  -h, --help           this text\n";

static int take_option(int option, void *user);

static const struct option option_names[] = {
	{ "active", required_argument, NULL, 'a' },
	{ "output", required_argument, NULL, 'o' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static const struct crit_syntax syntax = {
	.command = "crit-merge",
	.letters = "a:o:h",
	.names = option_names,
	.usage = usage,
	.take = take_option,
};

static int take_option(int option, void *user)
{
	struct merge_options *options = user;

	if (option == 'o')
		options->output = optarg;
	else if (crit_rule_parse(optarg, &options->rule))
		return crit_syntax_refuse(&syntax, "no activity rule named", optarg);
	return CRIT_SYNTAX_GO_ON;
}

static int refuse(const char *what, const struct crit_err *err, int rc)
{
	if (err->text[0])
		fprintf(stderr, "crit-merge: %s\n", err->text);
	else
		crit_line_print(stderr,
				"crit-merge: cannot merge %s: %s; can every node read all of it?\n",
				what, strerror(-rc));
	return CRIT_EXIT_FAILED;
}

static int write_report(const struct crit_recording_set *set, bool is_live,
			const struct crit_analysis *analysis, const char *output)
{
	const char *directory = crit_recording_set_directory(set);
	struct crit_err err = { { 0 } };
	struct crit_summary summary;
	int rc = crit_analysis_summarise(analysis, is_live, &summary);
	bool is_incomplete = !rc && summary.is_incomplete;

	if (!rc) {
		rc = crit_report_files_write_into(output ? output : directory, &summary, &err);
		crit_summary_fini(&summary);
	}
	if (rc)
		return refuse(directory, &err, rc);
	return is_incomplete || is_live ? CRIT_EXIT_INCOMPLETE : CRIT_EXIT_OK;
}

/* The archive follows the report.  Process 0 knows whether there is to be one. */
static int write_trace(struct crit_recording_set *set, const struct merge_options *options,
		       const struct crit_transport *transport, int code, int timeout_ms)
{
	const struct crit_archive_options trace = { .rule = options->rule, .transport = transport };
	const char *directory = crit_recording_set_directory(set);
	uint64_t is_wanted = !transport->rank && code != CRIT_EXIT_FAILED &&
			     crit_archive_is_wanted();
	struct crit_archive_result result = { 0 };
	struct crit_err err = { { 0 } };
	int rc;

	if (is_wanted)
		(void)crit_finish_lock_wait_trace(directory, timeout_ms); /* else it says so */
	rc = crit_transport_broadcast(transport, &is_wanted, 1);
	if (!rc && is_wanted)
		rc = crit_archive_write(set, options->output ? options->output : directory, &trace,
					&result, &err);
	if (rc && rc != -ENODATA) /* level profile: the report says so */
		return refuse(directory, &err, rc);
	return result.has_losses ? CRIT_EXIT_INCOMPLETE : code;
}

/* The report of a large run once more, with what waits cost.  The first one is there already. */
static void write_waits(struct crit_recording_set *set, const struct merge_options *options,
			const struct crit_transport *transport, bool is_live)
{
	struct crit_analysis *analysis = NULL;

	crit_recording_set_film(set, CRIT_FILM_REPORT);
	if (!crit_recording_set_analyse(set, options->rule, false, transport, &analysis, NULL) &&
	    analysis)
		(void)write_report(set, is_live, analysis, options->output);
	crit_analysis_destroy(analysis);
}

/* What process 0 finds, since recordings may still grow.  Errors: those of the transport. */
static int agree_is_small(const struct crit_recording_set *set,
			  const struct crit_transport *transport, bool *ret_is_small)
{
	uint64_t is_small = crit_recording_set_bytes(set) <= CRIT_FILMED_BYTES_MAX;
	int rc = crit_transport_broadcast(transport, &is_small, 1);

	*ret_is_small = is_small != 0;
	return rc;
}

/* The first report; code: what process 0 makes of it. */
static int merge_report(struct crit_recording_set *set, const struct merge_options *options,
			const struct crit_transport *transport, bool is_live, int *ret_code)
{
	struct crit_analysis *analysis = NULL;
	struct crit_err err = { { 0 } };
	int rc = crit_recording_set_analyse(set, options->rule, false, transport, &analysis, &err);

	rc = crit_transport_agree(transport, 0, rc); /* process 0 alone may have failed at last */
	if (rc)
		return refuse(crit_recording_set_directory(set), &err, rc);
	if (analysis)
		*ret_code = write_report(set, is_live, analysis, options->output);
	crit_analysis_destroy(analysis);
	return 0;
}

static int merge(struct crit_recording_set *set, const struct merge_options *options,
		 const struct crit_transport *transport)
{
	struct crit_err err = { { 0 } };
	struct crit_client_env env;
	const char *directory = crit_recording_set_directory(set);
	bool is_live, is_small;
	int rc, code = CRIT_EXIT_OK;
	uint64_t has_rest;

	crit_client_env_read(&env);
	is_live = crit_finish_lock_wait(directory, (int)env.finish_s * 1000) == -ETIMEDOUT;
	rc = agree_is_small(set, transport, &is_small);
	if (rc)
		return refuse(directory, &err, rc);
	if (is_small)
		crit_recording_set_film(set, CRIT_FILM_REPORT);
	rc = merge_report(set, options, transport, is_live, &code);
	if (rc)
		return rc;
	code = write_trace(set, options, transport, code, (int)env.finish_s * 1000);
	has_rest = !is_small && code != CRIT_EXIT_FAILED;
	if (!crit_transport_broadcast(transport, &has_rest, 1) && has_rest)
		write_waits(set, options, transport, is_live);
	return code;
}

int crit_merge_main(int argc, char **argv, const struct crit_transport *transport,
		    struct crit_elf_reader *reader)
{
	struct merge_options options = { 0 };
	struct crit_recording_set *set = crit_recording_set_create(reader);
	struct crit_err err = { { 0 } };
	int rc = 0, code;

	if (transport->rank &&
	    (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)))
		return CRIT_EXIT_FAILED;
	code = crit_syntax_read(&syntax, argc, argv, &options);
	if (code == CRIT_SYNTAX_GO_ON && optind == argc)
		code = crit_syntax_refuse(&syntax, "no recording given;",
					  "name a directory crit-...");
	if (code != CRIT_SYNTAX_GO_ON) {
		crit_recording_set_destroy(set);
		return code;
	}
	for (int i = optind; i < argc && !rc; i++)
		rc = crit_recording_set_add(set, argv[i], &err);
	rc = crit_transport_agree(transport, 0, rc);
	code = rc ? refuse(argv[optind], &err, rc) : merge(set, &options, transport);
	crit_recording_set_destroy(set);
	return transport->rank ? CRIT_EXIT_OK : code;
}
