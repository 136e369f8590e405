// SPDX-License-Identifier: BSD-3-Clause
/*
 * crit finish: the finisher.  A process that watches, and one that works (cli/finisher.h): the end
 * of the second by a signal, be it for lack of memory or by a damaged file, is seen by the first,
 * which has the work done once more and then says why there is no report.
 *
 * Nobody looks at it: it has no terminal, its parent is gone, the program may be killed any time.
 */
#include "cli/finish.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/finisher.h"
#include "cli/no_report.h"
#include "report/tables/summary.h"
#include "core/base/cleanup.h"
#include "core/client/client.h"
#include "core/base/setting.h"

#define ATTEMPTS 2

/* The worker died by this signal, and no other takes its place. */
static int give_up(struct crit_finisher *finisher, int signal)
{
	struct crit_err err;
	bool has_report = faccessat(finisher->directory_fd, "report.txt", F_OK, 0) == 0;

	crit_finisher_clean(finisher);
	if (finisher->state->phase == CRIT_FINISHER_EXPORTING) {
		(void)crit_err_set(&err, -EPIPE,
				   "no OTF2 archive: its writer ended by signal %d (%s); try crit "
				   "export otf2",
				   signal, strsignal(signal));
		crit_directory_log(finisher->directory_fd, err.text);
		return 0;
	}
	(void)crit_err_set(&finisher->state->err, -EPIPE,
			   "the analysis ended by signal %d (%s), %d times", signal,
			   strsignal(signal), ATTEMPTS);
	if (has_report) /* of the window; what came after it is missing */
		crit_directory_log(finisher->directory_fd, finisher->state->err.text);
	else
		crit_no_report_write(finisher->directory_fd, finisher->state->err.text);
	return -EPIPE;
}

/* Has the work done by a process of its own; without one to be had, does it here. */
static int supervise(struct crit_finisher *finisher)
{
	int wait_status = 0;

	for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
		const pid_t pid = fork();

		if (pid < 0)
			return crit_finisher_work(finisher);
		if (pid == 0)
			_exit(crit_finisher_work(finisher) ? CRIT_EXIT_FAILED : CRIT_EXIT_OK);
		while (waitpid(pid, &wait_status, 0) < 0 && errno == EINTR)
			;
		if (WIFEXITED(wait_status))
			return WEXITSTATUS(wait_status) == CRIT_EXIT_OK ? 0 : -EIO;
		if (finisher->state->phase == CRIT_FINISHER_EXPORTING)
			break;
	}
	return give_up(finisher, WTERMSIG(wait_status));
}

static int run(struct crit_finisher *finisher, struct crit_err *err)
{
	struct crit_finisher_state *state = mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE,
						 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status;

	if (state == MAP_FAILED)
		return crit_err_set(err, -ENOMEM, "out of memory");
	finisher->state = state;
	(void)signal(SIGCHLD, SIG_DFL); /* ignored, it would hide how the worker ended */
	status = supervise(finisher);
	if (status)
		(void)crit_err_set(err, status, "%s", state->err.text);
	(void)munmap(state, sizeof(*state));
	return status;
}

static enum crit_active_rule rule_set(void)
{
	enum crit_active_rule rule = CRIT_ACTIVE_DEFAULT;

	(void)crit_rule_parse(crit_setting_text(CRIT_SETTING_ACTIVE, NULL), &rule);
	return rule;
}

int crit_finish_again(int directory_fd, struct crit_err *err)
{
	struct crit_finisher finisher = {
		.directory_fd = directory_fd, .socket_fd = -1, .rule = rule_set(), .is_late = true
	};

	return run(&finisher, err);
}

static int usage(void)
{
	(void)fprintf(stderr, "usage: crit finish --directory DIR [--socket-fd N | --late] "
			      "[--active=RULE]\n");
	return CRIT_EXIT_USAGE;
}

static int parse(int argc, char **argv, struct crit_finisher *finisher, const char **ret_directory)
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
			finisher->socket_fd = (int)strtol(optarg, &end, 10);
			if (*end || finisher->socket_fd < 0)
				return usage();
		} else if (option == 'l') {
			finisher->is_late = true;
		} else if (option != 'a' || crit_rule_parse(optarg, &finisher->rule)) {
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
	struct crit_finisher finisher = { .socket_fd = -1, .rule = rule_set() };
	const char *directory = NULL;
	int code = parse(argc, argv, &finisher, &directory);
	crit_autoclose int directory_fd = -1;

	if (code >= 0)
		return code;
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGTERM, SIG_IGN); /* ends with critd, which a time limit ends as well */
	directory_fd = open(directory, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	if (directory_fd < 0) { /* it is gone, or never was */
		crit_client_log_about(directory, strerror(errno));
		return CRIT_EXIT_FAILED;
	}
	finisher.directory_fd = directory_fd;
	return run(&finisher, NULL) ? CRIT_EXIT_FAILED : CRIT_EXIT_OK;
}
