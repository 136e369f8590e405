// SPDX-License-Identifier: BSD-3-Clause
// crit waits: prints what the waits of a run cost, and who waited for whom.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/console/syntax.h"
#include "cli/results/recording_set.h"
#include "cli/results/shown_waits.h"
#include "report/tables/summary.h"
#include "report/causes/cause_table.h"
#include "report/graph/waits_dot.h"
#include "report/graph/waits_graphml.h"
#include "report/pages/waits_json.h"
#include "report/pages/waits_text.h"

#define ROWS_MAX 20

static const char usage[] =
	"usage: crit waits [--by=place|rank|thread|name|region|site] [--all] "
	"[--json|--dot|--graphml] "
	"DIRECTORY|FILE...\n"
	"Prints what the others waited for, through any chain of waits, and who waited for whom.\n"
	"  --by=place    of each rank, by the calls around it (the default)\n"
	"  --by=rank     of each rank; --by=thread: of each thread; --by=site: of all ranks\n"
	"  --by=name     of all threads of a name\n"
	"  --by=region   of each rank, by parallel regions, tasks and phases; pairs, too\n"
	"  --all         all rows, not only the first 20\n"
	"  --json        all rows, as an object of JSON\n"
	"  --dot         the pairs as a graph of ranks, threads or regions, for graphviz\n"
	"  --graphml     the same with all figures, for yEd, Gephi and the like\n"
	"exit: 0 ok, 1 cannot be read or played, 2 usage, 3 incomplete\n";

struct options {
	enum crit_cause_by by;
	size_t rows_max;
	bool is_json, is_dot, is_graphml;
};

static const struct crit_syntax syntax;

static int take(int option, void *to)
{
	struct options *options = to;

	if (option != 'b') {
		options->is_dot |= option == 'd';
		options->is_graphml |= option == 'g';
		options->is_json |= option == 'j';
		if (option == 'a')
			options->rows_max = 0;
		return CRIT_SYNTAX_GO_ON;
	}
	options->by = crit_cause_by_parse(optarg);
	if (options->by == CRIT_CAUSE_BY_COUNT)
		return crit_syntax_refuse(&syntax, "no rows of the kind", optarg);
	return CRIT_SYNTAX_GO_ON;
}

static const struct option names[] = { { "all", no_argument, NULL, 'a' },
				       { "by", required_argument, NULL, 'b' },
				       { "dot", no_argument, NULL, 'd' },
				       { "graphml", no_argument, NULL, 'g' },
				       { "help", no_argument, NULL, 'h' },
				       { "json", no_argument, NULL, 'j' },
				       { 0 } };
static const struct crit_syntax syntax = {
	.command = "crit waits", .letters = "h", .names = names, .usage = usage, .take = take
};

static int write_graph(const struct crit_wait_graph *graph, const struct crit_summary *summary,
		       const struct options *options)
{
	int rc = 0;

	if (options->is_json)
		rc = crit_waits_json_write(stdout, graph, summary);
	else if (options->is_dot)
		crit_waits_dot_write(stdout, graph, summary->results, !options->rows_max);
	else if (options->is_graphml)
		crit_waits_graphml_write(stdout, graph, summary->results);
	else
		crit_waits_text_write(stdout, graph, summary->results, options->rows_max);
	return ferror(stdout) ? 0 : rc; /* main tells */
}

static int write_table(const struct crit_analysis *analysis, const struct crit_summary *summary,
		       const struct options *options)
{
	struct crit_cause_table *table = crit_analysis_cause_table(analysis, options->by);
	struct crit_wait_graph graph;
	int rc;

	if (!table)
		return -ENOMEM;
	rc = crit_wait_graph_init(&graph, table, summary->results);
	if (!rc)
		rc = write_graph(&graph, summary, options);
	crit_wait_graph_fini(&graph);
	crit_cause_table_destroy(table);
	return rc;
}

/* Yields an exit code.  Errors: below 0. */
static int show(const struct crit_analysis *analysis, uint64_t known_ns, const void *user,
		struct crit_err *err)
{
	const struct options *options = user;
	struct crit_summary summary;
	int rc = crit_analysis_summarise(analysis, false, &summary);
	bool is_cut;

	(void)err; /* -ENOMEM needs no words */
	if (rc)
		return rc;
	is_cut = known_ns < summary.results->window_ns;
	rc = write_table(analysis, &summary, options);
	if (is_cut)
		fprintf(stderr,
			"crit waits: the waits end after %.3f s, where the recording fell back to "
			"level profile\n",
			1e-9 * (double)known_ns);
	if (crit_analysis_no_excess(analysis))
		fprintf(stderr, "crit waits: delay and imbalance are not known: %s\n",
			crit_analysis_no_excess(analysis));
	if (summary.is_incomplete)
		fputs("crit waits: records were lost, so waits are missing; crit report names the "
		      "losses\n",
		      stderr);
	if (!rc && (summary.is_incomplete || is_cut))
		rc = CRIT_EXIT_INCOMPLETE;
	crit_summary_fini(&summary);
	return rc;
}

int crit_command_waits(int argc, char **argv)
{
	struct options options = { .rows_max = ROWS_MAX };
	struct crit_shown_waits shown = {
		.command = syntax.command, .film = CRIT_FILM_EXCESS, .show = show, .user = &options
	};
	const int code = crit_syntax_read(&syntax, argc, argv, &options);

	if (options.by == CRIT_CAUSE_BY_REGION)
		shown.film |= CRIT_FILM_REGIONS;
	if (code != CRIT_SYNTAX_GO_ON)
		return code;
	if (optind == argc)
		return crit_syntax_refuse(&syntax, "give a recording,",
					  "as crit run leaves one in crit-<program>-...");
	return crit_shown_waits_run(&shown, argv + optind, (size_t)(argc - optind));
}
