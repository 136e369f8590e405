/* SPDX-License-Identifier: BSD-3-Clause */
/* How a subcommand reads its options, says what is wrong with them, and ends. */
#ifndef CRIT_SYNTAX_H
#define CRIT_SYNTAX_H

#include <getopt.h>

#define CRIT_SYNTAX_GO_ON (-1)

enum crit_exit {
	CRIT_EXIT_OK = 0,
	CRIT_EXIT_FAILED = 1,
	CRIT_EXIT_USAGE = 2,
	CRIT_EXIT_INCOMPLETE = 3,
};

struct crit_syntax {
	const char *command; /* "crit run" */
	const char *letters; /* as getopt_long takes them */
	const struct option *names; /* --help means 'h' */
	const char *usage; /* what --help prints */
	/* Takes any option but 'h', its argument in optarg; answers as crit_syntax_read. */
	int (*take)(int option, void *options);
};

/* Reads all options, up to optind.  Yields CRIT_SYNTAX_GO_ON, or the exit code to end with. */
int crit_syntax_read(const struct crit_syntax *syntax, int argc, char **argv, void *options);

/* Says "command: reason what" on stderr; answers the exit code. */
int crit_syntax_refuse(const struct crit_syntax *syntax, const char *reason, const char *what);

#endif
