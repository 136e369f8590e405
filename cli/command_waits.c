// SPDX-License-Identifier: BSD-3-Clause
// crit waits: prints what the waits of a run cost, and who waited for whom.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/waits/filming.h"
#include "cli/command.h"
#include "cli/console/progress.h"
#include "cli/console/syntax.h"
#include "cli/results/recording_set.h"
#include "core/base/line.h"
#include "core/base/setting.h"
#include "report/tables/summary.h"
#include "report/tables/cause_table.h"
#include "report/pages/waits_json.h"
#include "report/pages/waits_text.h"

#define EDGES_MAX 1000000u
#define ROWS_MAX 20

static const char usage[] =
	"usage: crit waits [--by=place|rank|thread|site] [--all|--json] DIRECTORY|FILE...\n"
	"Prints what the others waited for, through any chain of waits, and who waited for whom.\n"
	"  --by=place    of each rank, by the calls around it (the default)\n"
	"  --by=rank     of each rank; --by=thread: of each thread; --by=site: of all ranks\n"
	"  --all         all rows, not only the first 20\n"
	"  --json        all rows, as an object of JSON\n"
	"exit: 0 ok, 1 cannot be read or played, 2 usage, 3 incomplete\n";

struct options {
	enum crit_cause_by by;
	size_t rows_max;
	bool is_json;
};

static const struct crit_syntax syntax;

static int take(int option, void *to)
{
	struct options *options = to;

	if (option != 'b') {
		options->rows_max = 0;
		options->is_json |= option == 'j';
		return CRIT_SYNTAX_GO_ON;
	}
	options->by = crit_cause_by_parse(optarg);
	if (options->by == CRIT_CAUSE_BY_COUNT)
		return crit_syntax_refuse(&syntax, "no rows of the kind", optarg);
	return CRIT_SYNTAX_GO_ON;
}

static const struct option names[] = { { "all", no_argument, NULL, 'a' },
				       { "by", required_argument, NULL, 'b' },
				       { "help", no_argument, NULL, 'h' },
				       { "json", no_argument, NULL, 'j' },
				       { 0 } };
static const struct crit_syntax syntax = {
	.command = "crit waits", .letters = "h", .names = names, .usage = usage, .take = take
};

static int film(struct crit_recording_set *set, struct crit_filming *filming,
		struct crit_results **ret_results, struct crit_err *err)
{
	const struct crit_trace_sink sink = crit_filming_sink(filming);
	const struct crit_listener listener = crit_filming_listener(filming);
	struct crit_progress progress = crit_progress_begin("analysing");
	const struct crit_analysis_options options = {
		.trace = &sink,
		.listener = &listener,
		.progress = isatty(STDERR_FILENO) ? crit_progress_draw : NULL,
		.user = &progress,
		.index = crit_recording_set_index(set),
	};
	int rc = crit_analyse(crit_recording_set_paths(set), crit_recording_set_count(set),
			      &options, ret_results, err);

	crit_progress_end(&progress);
	return rc;
}

/* Takes results. */
static int show(struct crit_recording_set *set, const struct crit_costs *costs,
		const struct crit_code_key *keys, struct crit_results *results,
		const struct options *options, struct crit_err *err)
{
	const uint64_t window_ns = results->window_ns;
	struct crit_analysis *analysis = NULL;
	struct crit_cause_table *table;
	struct crit_summary summary;
	int rc = crit_recording_set_name(set, results, &analysis, err);

	if (rc)
		return rc;
	rc = crit_analysis_summarise(analysis, false, &summary);
	if (rc)
		goto out;
	table = crit_cause_table_create(costs, keys, results, summary.symbols, options->by);
	if (!table)
		rc = -ENOMEM;
	else if (options->is_json)
		rc = crit_waits_json_write(stdout, table, results);
	else
		crit_waits_text_write(stdout, table, results, options->rows_max);
	crit_cause_table_destroy(table);
	if (!rc && (fflush(stdout) || ferror(stdout)))
		rc = -EIO;
	if (costs->window_ns < window_ns)
		fprintf(stderr,
			"crit waits: the waits end after %.3f s, where the recording fell back to "
			"level profile\n",
			1e-9 * (double)costs->window_ns);
	if (summary.is_incomplete)
		fputs("crit waits: records were lost, so waits are missing; crit report names the "
		      "losses\n",
		      stderr);
	if (!rc && (summary.is_incomplete || costs->window_ns < window_ns))
		rc = CRIT_EXIT_INCOMPLETE;
	crit_summary_fini(&summary);
out:
	crit_analysis_destroy(analysis);
	return rc;
}

/* Yields an exit code.  Errors: below 0. */
static int play(struct crit_recording_set *set, const struct options *options, struct crit_err *err)
{
	const struct crit_film_options film_options = {
		.directory = crit_recording_set_directory(set),
		.max_bytes = crit_setting_number(CRIT_SETTING_MAX_BYTES) / 2,
	};
	struct crit_filming *filming = NULL;
	struct crit_results *results = NULL;
	struct crit_costs costs = { 0 };
	int rc = crit_filming_create(&film_options, &filming, err);

	if (!rc)
		rc = film(set, filming, &results, err);
	if (!rc)
		rc = crit_filming_play(filming, EDGES_MAX, &costs, err);
	if (!rc)
		rc = crit_costs_check(&costs, err);
	if (!rc)
		rc = show(set, &costs, crit_filming_keys(filming), results, options, err);
	else
		crit_results_destroy(results);
	crit_costs_fini(&costs);
	crit_filming_destroy(filming);
	return rc;
}

int crit_command_waits(int argc, char **argv)
{
	struct options options = { .rows_max = ROWS_MAX };
	struct crit_recording_set *set;
	struct crit_err err = { { 0 } };
	int code = crit_syntax_read(&syntax, argc, argv, &options);
	int rc = 0;

	if (code != CRIT_SYNTAX_GO_ON)
		return code;
	if (optind == argc)
		return crit_syntax_refuse(&syntax, "give a recording,",
					  "as crit run leaves one in crit-<program>-...");
	set = crit_recording_set_create(NULL);
	for (int i = optind; i < argc && !rc; i++)
		rc = crit_recording_set_add(set, argv[i], &err);
	if (!rc)
		rc = play(set, &options, &err);
	crit_recording_set_destroy(set);
	if (rc >= 0)
		return rc;
	crit_line_print(stderr, "crit waits: %s\n", err.text[0] ? err.text : strerror(-rc));
	return CRIT_EXIT_FAILED;
}
