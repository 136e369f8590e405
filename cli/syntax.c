// SPDX-License-Identifier: BSD-3-Clause
/* Reads options by a subcommand's table. */
#include "cli/syntax.h"

#include <stdio.h>

#include "cli/command.h"
#include "core/base/line.h"

int crit_syntax_refuse(const struct crit_syntax *syntax, const char *reason, const char *what)
{
	crit_line_print(stderr, "%s: %s %s; see %s --help\n", syntax->command, reason, what,
			syntax->command);
	return CRIT_EXIT_USAGE;
}

int crit_syntax_read(const struct crit_syntax *syntax, int argc, char **argv, void *options)
{
	int option;

	optind = 1;
	while ((option = getopt_long(argc, argv, syntax->letters, syntax->names, NULL)) != -1) {
		int code;

		if (option == 'h' || option == '?') {
			(void)fputs(syntax->usage, option == 'h' ? stdout : stderr);
			return option == 'h' ? CRIT_EXIT_OK : CRIT_EXIT_USAGE;
		}
		code = syntax->take(option, options);
		if (code != CRIT_SYNTAX_GO_ON)
			return code;
	}
	return CRIT_SYNTAX_GO_ON;
}
