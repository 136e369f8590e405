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
#define CPUS_MAX 1000000u
#define FASTER_MAX 100u /* per cent: the code takes no time */
#define SLOWER_MAX 10000u /* per cent more */

static const char usage[] =
	"usage: crit what-if [--faster=CODE[,rank=N],by=PERCENT]... "
	"[--slower=CODE[,rank=N],by=PERCENT]...\n"
	"                    [--balance=CODE]... [--without-transfer]\n"
	"                    [--without-oversubscription] [--without-preemption]\n"
	"                    [--without-queueing] [--cpus=N] [--waiters-block] [--json]\n"
	"                    DIRECTORY|FILE...\n"
	"Prints how much sooner a run would have ended with a change; without one of these "
	"options,\n"
	"with the changes that promise most.  Several are one change.\n"
	"  --faster=CODE[,rank=N],by=PERCENT\n"
	"                      code takes so much less time, on one rank or all\n"
	"  --slower=CODE[,rank=N],by=PERCENT\n"
	"                      code takes so much more time; by=100: twice as long\n"
	"  --balance=CODE      code takes as long on each rank as it does on average\n"
	"  --without-transfer  waits end as soon as all they need is done\n"
	"  --without-oversubscription\n"
	"                      no thread of the run has a CPU that another one of it wants\n"
	"  --without-preemption\n"
	"                      nobody else has a CPU that the run's threads want\n"
	"  --without-queueing  threads have a CPU whenever they want one\n"
	"  --cpus=N            the run's threads share N CPUs on each node\n"
	"  --waiters-block     waits take no CPU from others\n"
	"  --json              as an object of JSON\n"
	"CODE is a part of the name that crit waits gives it, as its file and line or its call;\n"
	"or function=NAME, by samples\n"
	"exit: 0 ok, 1 cannot be read or played, 2 usage, 3 incomplete\n";

struct changes {
	struct crit_fix_wish wishes[WISHES_MAX];
	struct crit_fix_wishes all;
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

/* sign: 1 less time, -1 more. */
static bool take_faster(struct crit_fix_wish *wish, char *text, int sign)
{
	unsigned long number;

	if (!cut_number(text, "by", sign < 0 ? SLOWER_MAX : FASTER_MAX, &number) || !number)
		return false;
	wish->percent = sign * (int32_t)number;
	if (cut_number(text, "rank", UINT32_MAX, &number))
		wish->rank = (int64_t)number;
	return *text != '\0';
}

static enum crit_fix_kind kind_of(int option)
{
	switch (option) {
	case 'b':
		return CRIT_FIX_BALANCED;
	case 'o':
		return CRIT_FIX_NO_OVERSUBSCRIPTION;
	case 'p':
		return CRIT_FIX_NO_PREEMPTION;
	case 'q':
		return CRIT_FIX_NO_QUEUEING;
	case 't':
		return CRIT_FIX_NO_TRANSFER;
	default:
		return CRIT_FIX_FASTER;
	}
}

/* Changes of code, and of messages. */
static int take_wish(int option, struct changes *options)
{
	struct crit_fix_wish *wish = &options->wishes[options->all.count];

	if (options->all.count == WISHES_MAX)
		return crit_syntax_refuse(&syntax, "too many changes,", "32 are enough");
	*wish = (struct crit_fix_wish){ .kind = kind_of(option), .place = optarg, .rank = -1 };
	if (option == 'f' && !take_faster(wish, optarg, 1))
		return crit_syntax_refuse(&syntax,
					  "no CODE[,rank=N],by=PERCENT up to 100:", optarg);
	if (option == 's' && !take_faster(wish, optarg, -1))
		return crit_syntax_refuse(&syntax,
					  "no CODE[,rank=N],by=PERCENT up to 10000:", optarg);
	if (option == 'b' && !*optarg)
		return crit_syntax_refuse(&syntax, "no CODE to balance:", optarg);
	options->all.count++;
	return CRIT_SYNTAX_GO_ON;
}

static int take(int option, void *to)
{
	struct changes *options = to;
	char *end;
	unsigned long cpus;

	switch (option) {
	case 'j':
		options->is_json = true;
		return CRIT_SYNTAX_GO_ON;
	case 'w':
		options->all.do_waiters_block = true;
		return CRIT_SYNTAX_GO_ON;
	case 'c':
		cpus = *optarg >= '1' && *optarg <= '9' ? strtoul(optarg, &end, 10) : 0;
		if (!cpus || *end || cpus > CPUS_MAX)
			return crit_syntax_refuse(&syntax, "no number of CPUs:", optarg);
		options->all.cpus = (uint32_t)cpus;
		return CRIT_SYNTAX_GO_ON;
	default:
		return take_wish(option, options);
	}
}

static const struct option names[] = { { "balance", required_argument, NULL, 'b' },
				       { "cpus", required_argument, NULL, 'c' },
				       { "faster", required_argument, NULL, 'f' },
				       { "help", no_argument, NULL, 'h' },
				       { "json", no_argument, NULL, 'j' },
				       { "slower", required_argument, NULL, 's' },
				       { "waiters-block", no_argument, NULL, 'w' },
				       { "without-oversubscription", no_argument, NULL, 'o' },
				       { "without-preemption", no_argument, NULL, 'p' },
				       { "without-queueing", no_argument, NULL, 'q' },
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
	return ferror(stdout) ? 0 : rc; /* main tells */
}

/* Yields an exit code.  Errors: below 0. */
static int show(const struct crit_analysis *analysis, uint64_t known_ns, const void *user,
		struct crit_err *err)
{
	const struct changes *options = user;
	struct crit_fix_wishes wishes = options->all;
	const struct crit_fix_table *shown =
		crit_fix_is_asked(&wishes) ? NULL : crit_analysis_promising(analysis);
	struct crit_fix_table table = { 0 };
	struct crit_summary summary;
	bool is_incomplete;
	int rc = 0;

	wishes.rows = options->wishes;
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
	struct crit_shown_waits shown = { .command = syntax.command,
					  .show = show,
					  .user = &options };
	const int code = crit_syntax_read(&syntax, argc, argv, &options);

	if (code != CRIT_SYNTAX_GO_ON)
		return code;
	if (optind == argc)
		return crit_syntax_refuse(&syntax, "give a recording,",
					  "as crit run leaves one in crit-<program>-...");
	shown.film = !crit_fix_is_asked(&options.all)                   ? CRIT_FILM_FIXES
		     : options.all.cpus || options.all.do_waiters_block ? CRIT_FILM_STATES
									: CRIT_FILM_NEEDS;
	return crit_shown_waits_run(&shown, argv + optind, (size_t)(argc - optind));
}
