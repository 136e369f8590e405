// SPDX-License-Identifier: BSD-3-Clause
// Reads options by a subcommand's table.
#include "cli/console/syntax.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/console/closest.h"
#include "core/base/line.h"

int crit_syntax_refuse(const struct crit_syntax *syntax, const char *reason, const char *what)
{
	crit_line_print(stderr, "%s: %s %s; see %s --help\n", syntax->command, reason, what,
			syntax->command);
	return CRIT_EXIT_USAGE;
}

#define NAME_BYTES 64

/* An option that is none, or stands for several. */
static int refuse_name(const struct crit_syntax *syntax, const char *name)
{
	struct crit_closest closest;
	size_t same = 0;

	crit_closest_init(&closest, name);
	for (const struct option *option = syntax->names; option->name; option++) {
		same += !strncmp(option->name, name, strlen(name));
		crit_closest_try(&closest, option->name);
	}
	if (same > 1)
		crit_line_print(stderr,
				"%s: more than one option begins with --%s; see %s --help\n",
				syntax->command, name, syntax->command);
	else
		crit_line_print(stderr, "%s: no option --%s;%s%s%s see %s --help\n",
				syntax->command, name, closest.name ? " did you mean --" : "",
				closest.name ? closest.name : "", closest.name ? "?" : "",
				syntax->command);
	return CRIT_EXIT_USAGE;
}

/* What getopt_long did not take: optopt is 0, or what it knows the option by. */
static int refuse_option(const struct crit_syntax *syntax, const char *given)
{
	char name[NAME_BYTES], text[3] = { '-', (char)optopt };
	const char *known = optopt < 256 ? strchr(syntax->letters, optopt) : NULL;
	bool is_long = !strncmp(given, "--", 2);

	(void)snprintf(name, sizeof(name), "%.*s", (int)strcspn(given, "="), given);
	if (!optopt)
		return refuse_name(syntax, name + 2);
	if (is_long && strchr(given, '='))
		return crit_syntax_refuse(syntax, "no value is taken by", name);
	if (is_long || (known && known[1] == ':'))
		return crit_syntax_refuse(syntax, "no value after", given);
	return crit_syntax_refuse(syntax, "no option", text);
}

int crit_syntax_read(const struct crit_syntax *syntax, int argc, char **argv, void *options)
{
	int option;

	optind = 1;
	opterr = 0; /* it would name the subcommand alone, and know no better name */
	while ((option = getopt_long(argc, argv, syntax->letters, syntax->names, NULL)) != -1) {
		int code;

		if (option == 'h') {
			(void)fputs(syntax->usage, stdout);
			return CRIT_EXIT_OK;
		}
		if (option == '?')
			return refuse_option(syntax, argv[optind - 1]);
		code = syntax->take(option, options);
		if (code != CRIT_SYNTAX_GO_ON)
			return code;
	}
	return CRIT_SYNTAX_GO_ON;
}
