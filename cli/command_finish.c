// SPDX-License-Identifier: BSD-3-Clause
/*
 * crit finish: reads its options and runs the finisher (cli/results/supervise.h).
 *
 * Nobody looks at it: it has no terminal, its parent is gone, the program may be killed any time.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
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

static int usage(void)
{
	(void)fprintf(stderr, "usage: crit finish --directory DIR [--socket-fd N | --late] "
			      "[--active=RULE]\n");
	return CRIT_EXIT_USAGE;
}

static int parse(int argc, char **argv, struct crit_finish *finish, const char **ret_directory)
{
	static const struct option names[] = {
		{ "directory", required_argument, NULL, 'd' },
		{ "socket-fd", required_argument, NULL, 's' },
		{ "late", no_argument, NULL, 'l' },
		{ "active", required_argument, NULL, 'a' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	const char *directory = NULL;
	char *end;
	int option;

	optind = 1;
	while ((option = getopt_long(argc, argv, "d:s:la:h", names, NULL)) != -1) {
		if (option == 'd') {
			directory = optarg;
		} else if (option == 's') {
			finish->socket_fd = (int)strtol(optarg, &end, 10);
			if (*end || finish->socket_fd < 0)
				return usage();
		} else if (option == 'l') {
			finish->is_late = true;
		} else if (option != 'a' || crit_rule_parse(optarg, &finish->rule)) {
			return usage();
		}
	}
	if (!directory || optind != argc)
		return usage();
	*ret_directory = directory;
	return -1;
}

int crit_command_finish(int argc, char **argv)
{
	struct crit_finish finish = { .socket_fd = -1, .rule = crit_supervise_rule() };
	const char *directory = NULL;
	int code = parse(argc, argv, &finish, &directory);
	crit_autoclose int directory_fd = -1;

	if (code >= 0)
		return code;
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGTERM, SIG_IGN); /* ends with critd, which a time limit ends as well */
	directory_fd = open(directory, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	if (directory_fd < 0) { /* it is gone, or never was */
		crit_client_log(directory, strerror(errno));
		return CRIT_EXIT_FAILED;
	}
	finish.directory_fd = directory_fd;
	return crit_supervise(&finish, NULL) ? CRIT_EXIT_FAILED : CRIT_EXIT_OK;
}
