// SPDX-License-Identifier: BSD-3-Clause
// crit finish: reads its options and runs the finisher (cli/results/supervise.h).
//
// Nobody looks at it: it has no terminal, its parent is gone, the program may be killed any time.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/console/syntax.h"
#include "cli/results/supervise.h"
#include "core/base/cleanup.h"
#include "core/client/client_log.h"
#include "report/tables/words.h"

struct finish_options {
	const char *directory;
	int socket_fd;
	bool is_late;
	enum crit_active_rule rule;
};

static const char usage[] = "usage: crit finish --directory=DIR [--socket-fd=N | --late] "
			    "[--active=RULE]\n";

static int take_option(int option, void *user);

static const struct option option_names[] = {
	{ "directory", required_argument, NULL, 'd' },
	{ "socket-fd", required_argument, NULL, 's' },
	{ "late", no_argument, NULL, 'l' },
	{ "active", required_argument, NULL, 'a' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

static const struct crit_syntax syntax = {
	.command = "crit finish",
	.letters = "d:s:la:h",
	.names = option_names,
	.usage = usage,
	.take = take_option,
};

static int take_option(int option, void *user)
{
	struct finish_options *options = user;
	char *end;

	switch (option) {
	case 'd':
		options->directory = optarg;
		return CRIT_SYNTAX_GO_ON;
	case 's':
		options->socket_fd = (int)strtol(optarg, &end, 10);
		if (*end || options->socket_fd < 0)
			return crit_syntax_refuse(&syntax, "no descriptor:", optarg);
		return CRIT_SYNTAX_GO_ON;
	case 'l':
		options->is_late = true;
		return CRIT_SYNTAX_GO_ON;
	default:
		if (crit_rule_parse(optarg, &options->rule))
			return crit_syntax_refuse(&syntax, "no activity rule named", optarg);
		return CRIT_SYNTAX_GO_ON;
	}
}

static int parse(int argc, char **argv, struct finish_options *options)
{
	int code = crit_syntax_read(&syntax, argc, argv, options);

	if (code == CRIT_SYNTAX_GO_ON && (!options->directory || optind != argc))
		return crit_syntax_refuse(&syntax, "give", "--directory and no other argument");
	return code;
}

int crit_command_finish(int argc, char **argv)
{
	struct finish_options options = { .socket_fd = -1, .rule = crit_supervise_rule() };
	int code = parse(argc, argv, &options);
	struct crit_finish finish = { .socket_fd = options.socket_fd,
				      .rule = options.rule,
				      .is_late = options.is_late };
	crit_autoclose int directory_fd = -1;

	if (code != CRIT_SYNTAX_GO_ON)
		return code;
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGTERM, SIG_IGN); /* ends with critd, which a time limit ends as well */
	directory_fd = open(options.directory, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	if (directory_fd < 0) { /* it is gone, or never was */
		crit_client_log(options.directory, strerror(errno));
		return CRIT_EXIT_FAILED;
	}
	finish.directory_fd = directory_fd;
	return crit_supervise(&finish, NULL) ? CRIT_EXIT_FAILED : CRIT_EXIT_OK;
}
