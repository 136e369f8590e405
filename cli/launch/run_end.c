// SPDX-License-Identifier: BSD-3-Clause
// Reads the report the finisher wrote; without one, makes it again.
#include "cli/launch/run_end.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/results/finish_lock.h"
#include "cli/results/no_report.h"
#include "cli/results/recording_set.h"
#include "cli/results/supervise.h"
#include "cli/console/terminal.h"
#include "report/pages/report_text.h"
#include "report/formats/screen.h"
#include "core/abi/abi_slot.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/base/line.h"
#include "core/client/client_env.h"

#define BEGIN_MS 10000 /* for a finisher to begin: one at work by then may still need longer */
#define WIDE_BYTES_MAX (16u << 20) /* of recordings that are read again */

struct findings {
	char here[32]; /* the directory, whatever its name is now */
	char name[PATH_MAX];
	bool is_held; /* a finisher is at work, or waits for processes that still live */
	bool is_made_here;
	bool has_no_trace_yet;
	struct crit_err err; /* of what was made here */
};

static bool has_file(int directory_fd, const char *name)
{
	return faccessat(directory_fd, name, F_OK, 0) == 0;
}

/*
 * The first screen for a terminal of another width than report.txt was written for.  False: it
 * cannot be made, or would take long.
 */
static bool show_wide(const struct findings *found, int columns)
{
	const struct crit_text_options options = { .is_first_screen_only = true,
						   .columns = columns };
	struct crit_recording_set *set = crit_recording_set_create(NULL);
	struct crit_analysis *analysis = NULL;
	struct crit_summary summary;
	bool is_shown = false;

	crit_recording_set_film(set, CRIT_FILM_REPORT); /* as what it shows is */
	if (set && crit_recording_set_add(set, found->here, NULL) == 0 &&
	    crit_recording_set_bytes(set) <= WIDE_BYTES_MAX &&
	    crit_recording_set_analyse(set, crit_supervise_rule(), false, NULL, &analysis, NULL) ==
		    0 &&
	    crit_analysis_summarise(analysis, found->is_held, &summary) == 0) {
		crit_write_text(stderr, &summary, &options);
		(void)fputc('\n', stderr);
		crit_summary_fini(&summary);
		is_shown = true;
	}
	crit_analysis_destroy(analysis);
	crit_recording_set_destroy(set);
	return is_shown;
}

/* Shows it in a process of its own, so that an analysis that dies of a signal ends that alone. */
static bool show_wide_aside(const struct findings *found, int columns)
{
	const pid_t pid = fork();
	int wait_status = 0;

	if (pid == 0)
		_exit(show_wide(found, columns) ? 0 : 1);
	while (pid > 0 && waitpid(pid, &wait_status, 0) < 0 && errno == EINTR)
		continue;
	return pid > 0 && WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0;
}

/* The first screen of report.txt, which ends before the line "Run". */
static void show_screen(int directory_fd, const struct findings *found)
{
	const int columns = crit_terminal_columns(STDERR_FILENO);
	crit_autofree char *line = NULL;
	crit_autofclose FILE *in = NULL;
	size_t size = 0;
	int fd;

	if (columns && columns != CRIT_SCREEN_COLUMNS && show_wide_aside(found, columns))
		return;
	fd = openat(directory_fd, "report.txt", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	in = fd >= 0 ? fdopen(fd, "r") : NULL;
	if (!in)
		return;
	while (getline(&line, &size, in) > 0 && strcmp(line, "Run\n") != 0)
		(void)fputs(line, stderr);
}

static bool is_removed(int directory_fd)
{
	struct stat status;

	return fstat(directory_fd, &status) == 0 && status.st_nlink == 0;
}

static void say_why(const struct crit_run_end *end, const struct findings *found)
{
	struct crit_recording_set *set;
	bool has_recording;

	if (is_removed(end->directory_fd)) {
		crit_line_print(stderr, "crit: no report: %s was removed while the run went on\n",
				end->directory);
		return;
	}
	if (found->err.text[0]) {
		crit_line_print(stderr, "crit: no report: %s; try crit report %s\n",
				found->err.text, found->name);
		return;
	}
	set = crit_recording_set_create(NULL);
	has_recording = crit_recording_set_add(set, found->here, NULL) == 0;
	crit_recording_set_destroy(set);
	if (has_recording)
		crit_line_print(stderr, "crit: report follows in %s, from another node\n",
				found->name);
	else
		crit_line_print(stderr,
				"crit: no report: the recording in %s was removed while the run "
				"went on\n",
				found->name);
}

static void say(const struct crit_run_end *end, const struct findings *found)
{
	if (!found->err.text[0] && has_file(end->directory_fd, "report.txt")) {
		show_screen(end->directory_fd, found);
		crit_line_print(
			stderr, "crit: report in %s/report.txt%s%s%s\n", found->name,
			found->is_made_here ? "; made by crit run, as crit finish had ended "
					      "without it"
					    : "",
			found->is_held ? "; it may change, as processes of the run still live" : "",
			found->has_no_trace_yet ? "; traces.otf2 follows" : "");
	} else if (found->is_held) {
		crit_line_print(stderr,
				"crit: report follows in %s; crit finish still makes it, or waits "
				"for processes of the run\n",
				found->name);
	} else {
		say_why(end, found);
	}
}

/* A finisher that ended well has removed its lock. */
static bool is_abandoned(const struct crit_run_end *end, const struct findings *found)
{
	return has_file(end->directory_fd, CRIT_LOCK_NAME) &&
	       crit_finish_lock_wait_trace(found->here, 0) == 0 &&
	       has_file(end->directory_fd, CRIT_LOCK_NAME);
}

static int finish_again(int directory_fd, struct crit_err *err)
{
	return crit_supervise(&(struct crit_finish){ .directory_fd = directory_fd,
						     .socket_fd = -1,
						     .rule = crit_supervise_rule(),
						     .is_late = true },
			      err);
}

static int patience_ms(const struct crit_run_end *end, const struct findings *found)
{
	struct crit_recording_set *set;
	uint64_t slots = 0;

	if (end->finish_ms != CRIT_END_BY_SIZE)
		return end->finish_ms;
	set = crit_recording_set_create(NULL);
	if (crit_recording_set_add(set, found->here, NULL) == 0)
		slots = crit_recording_set_bytes(set) / CRIT_SLOT_BYTES;
	crit_recording_set_destroy(set);
	return CRIT_END_MS + (int)(slots * CRIT_END_MS_PER_MILLION / 1000000);
}

/* The archive of a run has as much time again where the user has set it, else what is left. */
static bool has_no_trace_yet(const struct crit_run_end *end, const struct findings *found,
			     int wait_ms, uint64_t begin_ms)
{
	const int passed_ms = (int)(crit_clock_ms() - begin_ms);

	if (end->finish_ms == CRIT_END_BY_SIZE)
		wait_ms -= passed_ms;
	return crit_finish_lock_wait_trace(found->here, wait_ms) == -ETIMEDOUT;
}

/* Waits for the finisher and, where it is needed, takes its place. */
static void find_report(const struct crit_run_end *end, struct findings *found)
{
	const uint64_t begin_ms = crit_clock_ms();
	const int wait_ms = patience_ms(end, found);
	int rc = crit_finish_lock_wait_report(found->here, wait_ms);

	found->is_held = crit_finish_lock_wait(found->here, 0) == -ETIMEDOUT;
	if (rc == -ETIMEDOUT && !found->is_held && end->finish_ms == CRIT_END_BY_SIZE) {
		rc = crit_finish_lock_wait_report(found->here, BEGIN_MS);
		found->is_held = crit_finish_lock_wait(found->here, 0) == -ETIMEDOUT;
	}
	if (!found->is_held && (rc || is_abandoned(end, found)))
		found->is_made_here = finish_again(end->directory_fd, &found->err) == 0;
	else if (!rc)
		found->has_no_trace_yet = has_no_trace_yet(end, found, wait_ms, begin_ms);
}

void crit_run_end_print(const struct crit_run_end *end)
{
	struct findings found = { .is_held = false };
	char name[PATH_MAX];

	if (end->directory_fd < 0 || end->finish_ms == 0) {
		if (!end->is_quiet)
			crit_line_print(stderr, "crit: report follows in %s\n", end->directory);
		return;
	}
	(void)snprintf(found.here, sizeof(found.here), "/proc/self/fd/%d", end->directory_fd);
	if (!is_removed(end->directory_fd))
		find_report(end, &found);
	(void)snprintf(found.name, sizeof(found.name), "%s",
		       crit_directory_name(end->directory_fd, end->directory, name));
	if (!end->is_quiet)
		say(end, &found);
}
