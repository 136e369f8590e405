// SPDX-License-Identifier: BSD-3-Clause
// crit annotate: prints the source lines of a function with the CMetric earned in each.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

#include "cli/command.h"
#include "cli/console/syntax.h"
#include "cli/results/disassembly.h"
#include "cli/results/recording_set.h"
#include "core/base/line.h"
#include "report/pages/annotate_text.h"

static const char usage[] =
	"usage: crit annotate DIRECTORY|FILE FUNCTION\n"
	"Prints the source lines of FUNCTION with the CMetric earned in each, by samples;\n"
	"where its source is not there, its instructions.\n"
	"exit: 0 ok, 1 no samples of it or cannot be read, 2 usage\n";

static const char *reason_of(int rc)
{
	if (rc == -ENODATA)
		return "the recordings have no samples";
	return rc == -ENOENT ? "no line of it was sampled" : strerror(-rc);
}

static int annotate(struct crit_recording_set *set, const char *function)
{
	pid_t pid;
	const struct crit_disassembler disassembler = { &pid, crit_disassembly_open,
							crit_disassembly_close };
	struct crit_analysis *analysis = NULL;
	struct crit_summary summary;
	struct crit_err err = { { 0 } };
	int rc = crit_recording_set_analyse(set, CRIT_ACTIVE_DEFAULT, false, NULL, &analysis, &err);

	if (rc) {
		fprintf(stderr, "crit annotate: %s\n", err.text[0] ? err.text : strerror(-rc));
		return CRIT_EXIT_FAILED;
	}
	rc = crit_analysis_summarise(analysis, true, &summary);
	if (!rc) {
		rc = crit_annotate_text_write(stdout, &summary, function, &disassembler);
		crit_summary_fini(&summary);
	}
	crit_analysis_destroy(analysis);
	if (!rc)
		return CRIT_EXIT_OK;
	crit_line_print(stderr, "crit annotate: %s: %s\n", function, reason_of(rc));
	return CRIT_EXIT_FAILED;
}

int crit_command_annotate(int argc, char **argv)
{
	static const struct option names[] = { { "help", no_argument, NULL, 'h' }, { 0 } };
	static const struct crit_syntax syntax = {
		.command = "crit annotate", .letters = "h", .names = names, .usage = usage
	};
	struct crit_recording_set *set;
	struct crit_err err = { { 0 } };
	int code = crit_syntax_read(&syntax, argc, argv, NULL);
	int rc;

	if (code != CRIT_SYNTAX_GO_ON)
		return code;
	if (argc - optind != 2)
		return crit_syntax_refuse(&syntax, "give a recording and a function;",
					  "crit report --by=function names those with samples");
	set = crit_recording_set_create(NULL);
	rc = crit_recording_set_add(set, argv[optind], &err);
	if (rc)
		fprintf(stderr, "crit annotate: %s\n", err.text[0] ? err.text : strerror(-rc));
	code = rc ? CRIT_EXIT_FAILED : annotate(set, argv[optind + 1]);
	crit_recording_set_destroy(set);
	return code;
}
