// SPDX-License-Identifier: BSD-3-Clause
// Two processes: one watches, one works (cli/results/finisher.h).  The first sees the second end by
// a signal, for lack of memory or for a damaged file, has the work done once more and then says why
// there is no report.
#include "cli/results/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/results/finisher.h"
#include "cli/results/no_report.h"
#include "report/tables/summary.h"
#include "core/base/setting.h"

#define ATTEMPTS 2
#define STATUS_FAILED 1

enum crit_active_rule crit_supervise_rule(void)
{
	enum crit_active_rule rule = CRIT_ACTIVE_DEFAULT;

	(void)crit_rule_parse(crit_setting_text(CRIT_SETTING_ACTIVE, NULL), &rule);
	return rule;
}

/* The worker died by this signal, and no other takes its place. */
static int give_up(struct crit_finisher *finisher, int signal)
{
	struct crit_err err;
	bool has_report = faccessat(finisher->directory_fd, "report.txt", F_OK, 0) == 0;

	crit_finisher_clean(finisher);
	if (finisher->state->phase >= CRIT_FINISHER_EXPORTING) {
		const bool is_playing = finisher->state->phase == CRIT_FINISHER_PLAYING;

		(void)crit_err_set(&err, -EPIPE, "%s ended by signal %d (%s); try crit %s",
				   is_playing ? "the report does not tell what waits cost: that "
						"analysis"
					      : "no OTF2 archive: its writer",
				   signal, strsignal(signal), is_playing ? "waits" : "export otf2");
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
			_exit(crit_finisher_work(finisher) ? STATUS_FAILED : 0);
		while (waitpid(pid, &wait_status, 0) < 0 && errno == EINTR)
			;
		if (WIFEXITED(wait_status))
			return WEXITSTATUS(wait_status) == 0 ? 0 : -EIO;
		if (finisher->state->phase >= CRIT_FINISHER_EXPORTING)
			break;
	}
	return give_up(finisher, WTERMSIG(wait_status));
}

int crit_supervise(const struct crit_finish *finish, struct crit_err *err)
{
	struct crit_finisher_state *state = mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE,
						 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct crit_finisher finisher = {
		.directory_fd = finish->directory_fd,
		.socket_fd = finish->socket_fd,
		.rule = finish->rule,
		.is_late = finish->is_late,
		.state = state,
	};
	int rc;

	if (state == MAP_FAILED)
		return crit_err_set(err, -ENOMEM, "out of memory");
	(void)signal(SIGCHLD, SIG_DFL); /* ignored, it would hide how the worker ended */
	rc = supervise(&finisher);
	if (rc)
		(void)crit_err_set(err, rc, "%s", state->err.text);
	(void)munmap(state, sizeof(*state));
	return rc;
}
