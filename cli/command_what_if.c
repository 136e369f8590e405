// SPDX-License-Identifier: BSD-3-Clause
// crit what-if: prints how much sooner a run would end with changes of its code.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/console/syntax.h"
#include "cli/results/recording_set.h"
#include "cli/results/shown_waits.h"
#include "report/pages/what_if_json.h"
#include "report/pages/what_if_text.h"
#include "report/tables/summary.h"

#define WISHES_MAX 32u

static const char usage[] =
	"usage: crit what-if [--faster=CODE[,rank=N],by=PERCENT]... [--balance=CODE]...\n"
	"                    [--without-transfer] [--json] DIRECTORY|FILE...\n"
	"Prints how much sooner a run would have ended with a change; without one of these "
	"options,\n"
	"with the changes that promise most.  Several are one change.\n"
	"  --faster=CODE[,rank=N],by=PERCENT\n"
	"                      code takes so much less time, on one rank or all\n"
	"  --balance=CODE      code takes as long on each rank as it does on average\n"
	"  --without-transfer  waits end as soon as all they need is done\n"
	"  --json              as an object of JSON\n"
	"CODE is a part of the name that crit waits gives it, as its file and line or its call;\n"
	"or function=NAME, by samples\n"
	"exit: 0 ok, 1 cannot be read or played, 2 usage, 3 incomplete\n";

struct changes {
	struct crit_fix_wish wishes[WISHES_MAX];
	size_t wish_count;
	bool is_json;
};

static const struct crit_syntax syntax;

/* Cuts ",word=NUMBER" off the end of a text; false: it is not there. */
static bool cut_number(char *text, const char *word, unsigned long max, unsigned long *ret_number)
{
	char *at = strrchr(text, ','), *end;
	const size_t length = strlen(word);

	if (!at || strncmp(at + 1, word, length) != 0 || at[1 + length] != '=' ||
	    at[2 + length] < '0' || at[2 + length] > '9')
		return false;
	*ret_number = strtoul(at + 2 + length, &end, 10);
	if ((*end && strcmp(end, "%") != 0) || *ret_number > max)
		return false;
	*at = '\0';
	return true;
}

static bool take_faster(struct crit_fix_wish *wish, char *text)
{
	unsigned long number;

	if (!cut_number(text, "by", 100, &number) || !number)
		return false;
	wish->percent = (uint32_t)number;
	if (cut_number(text, "rank", UINT32_MAX, &number))
		wish->rank = (int64_t)number;
	return *text != '\0';
}

static int take(int option, void *to)
{
	struct changes *options = to;
	struct crit_fix_wish *wish = &options->wishes[options->wish_count];

	if (option == 'j') {
		options->is_json = true;
		return CRIT_SYNTAX_GO_ON;
	}
	if (options->wish_count == WISHES_MAX)
		return crit_syntax_refuse(&syntax, "too many changes,", "32 are enough");
	*wish = (struct crit_fix_wish){ .kind = CRIT_FIX_NO_TRANSFER, .rank = -1 };
	if (option == 'f')
		wish->kind = CRIT_FIX_FASTER;
	if (option == 'b')
		wish->kind = CRIT_FIX_BALANCED;
	if (option != 't')
		wish->place = optarg;
	if ((option == 'f' && !take_faster(wish, optarg)) || (option == 'b' && !*optarg))
		return crit_syntax_refuse(&syntax,
					  "no CODE[,rank=N],by=PERCENT up to 100:", optarg);
	options->wish_count++;
	return CRIT_SYNTAX_GO_ON;
}

static const struct option names[] = { { "balance", required_argument, NULL, 'b' },
				       { "faster", required_argument, NULL, 'f' },
				       { "help", no_argument, NULL, 'h' },
				       { "json", no_argument, NULL, 'j' },
				       { "without-transfer", no_argument, NULL, 't' },
				       { 0 } };
static const struct crit_syntax syntax = {
	.command = "crit what-if", .letters = "h", .names = names, .usage = usage, .take = take
};

static int write_table(const struct crit_fix_table *table, const struct crit_summary *summary,
		       bool is_json)
{
	int rc = 0;

	if (is_json)
		rc = crit_what_if_json_write(stdout, table, summary);
	else
		crit_what_if_text_write(stdout, table, summary);
	if (!rc && (fflush(stdout) || ferror(stdout)))
		rc = -EIO;
	return rc;
}

/* Yields an exit code.  Errors: below 0. */
static int show(const struct crit_analysis *analysis, uint64_t known_ns, const void *user,
		struct crit_err *err)
{
	const struct changes *options = user;
	const struct crit_fix_wishes wishes = { options->wishes, options->wish_count };
	const struct crit_fix_table *shown = wishes.count ? NULL
							  : crit_analysis_promising(analysis);
	struct crit_fix_table table = { 0 };
	struct crit_summary summary;
	bool is_incomplete;
	int rc = 0;

	if (!shown)
		rc = crit_analysis_fixes(analysis, &wishes, &table, err);
	if (rc)
		return rc;
	rc = crit_analysis_summarise(analysis, false, &summary);
	if (rc) {
		crit_fix_table_fini(&table);
		return rc;
	}
	is_incomplete = summary.is_incomplete || known_ns < summary.results->window_ns;
	rc = write_table(shown ? shown : &table, &summary, options->is_json);
	if (is_incomplete)
		fputs("crit what-if: records were lost or not taken one by one, so waits are "
		      "missing and gains are not sure; crit report tells which\n",
		      stderr);
	if (!rc && is_incomplete)
		rc = CRIT_EXIT_INCOMPLETE;
	crit_summary_fini(&summary);
	crit_fix_table_fini(&table);
	return rc;
}

int crit_command_what_if(int argc, char **argv)
{
	struct changes options = { 0 };
	struct crit_shown_waits shown = {
		.command = syntax.command, .has_needs = true, .show = show, .user = &options
	};
	const int code = crit_syntax_read(&syntax, argc, argv, &options);

	if (code != CRIT_SYNTAX_GO_ON)
		return code;
	if (optind == argc)
		return crit_syntax_refuse(&syntax, "give a recording,",
					  "as crit run leaves one in crit-<program>-...");
	shown.has_fixes = !options.wish_count;
	return crit_shown_waits_run(&shown, argv + optind, (size_t)(argc - optind));
}
