// SPDX-License-Identifier: BSD-3-Clause
// Waits until critd says that the window is closed or hangs up.  Where somebody waits for the
// report, it turns the recording into results and answers, else it answers at once; and when the
// run has ended it makes results and OTF2 archive from one replay.  What waits cost comes with the
// report of a small recording, else it is added last.
//
// All files are named relative to the run's directory, which is the working directory: it stays
// the same under another name, and whatever bears its old name now is not touched.
#include "cli/results/finisher.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/results/finish_lock.h"
#include "cli/results/no_report.h"
#include "cli/results/nodes.h"
#include "cli/results/path_maker.h"
#include "cli/results/archive.h"
#include "core/abi/abi_socket.h"
#include "core/client/client_key.h"
#include "core/base/clock.h"
#include "core/base/setting.h"
#include "report/pages/report_files.h"

#define HERE "."
#define LATE_NICE 19
#define LATE_MS 30000 /* for a finisher at work when the job is over */
#define AWAITED_BYTES_MAX (16u << 20) /* of recordings whose report is made within CRIT_END_MS */
#define END_MS 1000 /* for a run to end behind its window */
#define READERS_MS 20 /* those who wait for a finisher take a free lock for an instant */

/* Notes the outcome of one attempt; the first of equal failures in a row is told. */
static int conclude(struct crit_finisher *finisher, int rc, const struct crit_err *err)
{
	struct crit_err *noted = &finisher->state->err;

	noted->text[0] = '\0';
	if (rc)
		(void)crit_err_set(noted, rc, "%s",
				   err && err->text[0] ? err->text : strerror(-rc));
	if (rc && rc != finisher->last_status)
		crit_no_report_write(finisher->directory_fd, noted->text);
	finisher->last_status = rc;
	return rc;
}

/* Finds the recordings as they are now. */
static int open_set(struct crit_finisher *finisher, struct crit_err *err)
{
	int rc;

	crit_recording_set_destroy(finisher->set);
	finisher->set = crit_recording_set_create(NULL);
	rc = crit_recording_set_add(finisher->set, HERE, err);
	finisher->written_bytes = crit_recording_set_bytes(finisher->set);
	return rc;
}

static bool is_small(const struct crit_finisher *finisher)
{
	return finisher->written_bytes <= CRIT_FILMED_BYTES_MAX;
}

static int put_report(struct crit_finisher *finisher, const struct crit_analysis *analysis,
		      bool is_live, struct crit_err *err)
{
	struct crit_summary summary;
	char name[PATH_MAX];
	int rc = crit_analysis_summarise(analysis, is_live, &summary);

	if (rc)
		return rc;
	rc = crit_report_files_write(finisher->directory_fd,
				     crit_directory_name(finisher->directory_fd, HERE, name),
				     &summary, err);
	finisher->is_provisional = summary.is_provisional;
	crit_summary_fini(&summary);
	return rc;
}

static int write_results(struct crit_finisher *finisher, bool is_live)
{
	struct crit_analysis *analysis = NULL;
	struct crit_err err = { { 0 } };
	int rc = open_set(finisher, &err);

	finisher->is_filmed = is_small(finisher);
	if (!rc && finisher->is_filmed)
		crit_recording_set_film(finisher->set, CRIT_FILM_REPORT);
	if (!rc)
		rc = crit_recording_set_analyse(finisher->set, finisher->rule, false, NULL,
						&analysis, &err);
	if (!rc)
		rc = put_report(finisher, analysis, is_live, &err);
	crit_analysis_destroy(analysis);
	return conclude(finisher, rc, &err);
}

/* Nobody waits any more: lets those who compute go first. */
static void step_back(void)
{
	errno = 0;
	(void)nice(LATE_NICE); /* without it all the same */
}

static void log_no_trace(const struct crit_finisher *finisher, int rc, const struct crit_err *err)
{
	if (rc && rc != -ENODATA) /* level profile: the report says so */
		crit_directory_log(finisher->directory_fd,
				   err->text[0] ? err->text : strerror(-rc));
}

/* The report once more, with what waits cost, or why that is not known. */
static void put_waits(struct crit_finisher *finisher, const struct crit_analysis *analysis)
{
	struct crit_err err = { { 0 } };
	int rc = 0;

	finisher->is_filmed = true;
	if (crit_analysis_waits(analysis, &err) || err.text[0])
		rc = put_report(finisher, analysis, false, &err);
	if (rc) /* the report is there without */
		crit_directory_log(finisher->directory_fd, err.text[0] ? err.text : strerror(-rc));
}

/* What waits cost, where no archive was made that told of it. */
static void add_waits(struct crit_finisher *finisher)
{
	struct crit_analysis *analysis = NULL;

	finisher->state->phase = CRIT_FINISHER_PLAYING;
	crit_finish_lock_mark_reported(finisher->lock_fd);
	step_back();
	crit_recording_set_film(finisher->set, CRIT_FILM_REPORT);
	if (!crit_recording_set_analyse(finisher->set, finisher->rule, false, NULL, &analysis,
					NULL))
		put_waits(finisher, analysis);
	crit_analysis_destroy(analysis);
}

/* The archive follows the report. */
static void write_trace(struct crit_finisher *finisher)
{
	struct crit_analysis *analysis = NULL;
	const struct crit_archive_options options = {
		.rule = finisher->rule,
		.ret_analysis = finisher->is_filmed ? NULL : &analysis,
	};
	struct crit_archive_result result;
	struct crit_err err = { { 0 } };
	int rc;

	finisher->state->phase = CRIT_FINISHER_EXPORTING;
	crit_finish_lock_mark_reported(finisher->lock_fd);
	step_back();
	crit_recording_set_film(finisher->set, CRIT_FILM_REPORT);
	rc = crit_archive_write(finisher->set, HERE, &options, &result, &err);
	log_no_trace(finisher, rc, &err);
	if (analysis)
		put_waits(finisher, analysis);
	crit_analysis_destroy(analysis);
}

/* Report and archive from one replay; where there is no archive to be had, the report alone. */
static int write_both(struct crit_finisher *finisher)
{
	struct crit_analysis *analysis = NULL;
	const struct crit_archive_options options = { .rule = finisher->rule,
						      .ret_analysis = &analysis };
	struct crit_archive_result result;
	struct crit_err err = { { 0 } };
	struct crit_err report_err = { { 0 } };
	int rc = open_set(finisher, &err);
	int report_rc;

	finisher->state->phase = CRIT_FINISHER_REPLAYING_ONCE;
	step_back();
	crit_recording_set_film(finisher->set, CRIT_FILM_REPORT);
	if (!rc)
		rc = crit_archive_write(finisher->set, HERE, &options, &result, &err);
	finisher->is_filmed = true;
	if (analysis)
		report_rc = conclude(finisher, put_report(finisher, analysis, false, &report_err),
				     &report_err);
	else
		report_rc = write_results(finisher, false);
	crit_analysis_destroy(analysis);
	finisher->has_traced = true;
	if (!report_rc)
		log_no_trace(finisher, rc, &err);
	return report_rc;
}

static void answer(const struct crit_finisher *finisher, int rc)
{
	struct crit_message_status message = {
		.head = { .kind = CRIT_M_WRITTEN,
			  .version = CRIT_SOCKET_VERSION,
			  .size = sizeof(message) },
		.status = rc,
	};

	message.time_ns = crit_clock_ns(CLOCK_MONOTONIC);
	/* critd may be gone; the results are there all the same */
	(void)send(finisher->socket_fd, &message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Takes the next message, or looks at it only; answers its kind, 0 for the end of them. */
static uint16_t receive(const struct crit_finisher *finisher, int flags)
{
	union {
		struct crit_message_head head;
		char bytes[CRIT_MESSAGE_MAX];
	} message;
	ssize_t length;

	do
		length = recv(finisher->socket_fd, &message, sizeof(message), flags);
	while (length < 0 && errno == EINTR);
	if (length <= 0)
		return 0;
	return length >= (ssize_t)sizeof(message.head) && message.head.kind ? message.head.kind
									    : UINT16_MAX;
}

/* True for CLOSED, which stays to be taken; false for the end of the conversation. */
static bool wait_closed(const struct crit_finisher *finisher)
{
	uint16_t kind;

	while ((kind = receive(finisher, MSG_PEEK)) != 0 && kind != CRIT_M_CLOSED) {
		if (kind == CRIT_M_STACKS)
			crit_path_maker_start(finisher->socket_fd);
		else
			(void)receive(finisher, 0);
	}
	return kind == CRIT_M_CLOSED;
}

/* Was this node's recording removed, by itself or with its directory?  One that moved was not. */
static bool is_removed(const struct crit_finisher *finisher)
{
	struct stat status;

	return finisher->recording_fd >= 0 && fstat(finisher->recording_fd, &status) == 0 &&
	       status.st_nlink == 0;
}

static int fail_removed(struct crit_finisher *finisher)
{
	struct crit_err err;

	return conclude(finisher,
			crit_err_set(&err, -ENOENT,
				     "the recording was removed while the run went on; there is "
				     "nothing left to report"),
			&err);
}

/* May somebody wait for a report that is made of what there is now? */
static bool is_awaited(const struct crit_finisher *finisher)
{
	struct crit_recording_set *set;
	bool is_small;

	if (finisher->env.has_finish_s)
		return finisher->env.finish_s > 0;
	set = crit_recording_set_create(NULL);
	is_small = crit_recording_set_add(set, HERE, NULL) == 0 &&
		   crit_recording_set_bytes(set) <= AWAITED_BYTES_MAX;
	crit_recording_set_destroy(set);
	return is_small;
}

/*
 * The report of a run that crit run waits for comes before the archive.  What a worker before this
 * one died of may have been either: then, too.
 */
static bool is_one_replay(const struct crit_finisher *finisher)
{
	const bool is_first = finisher->socket_fd >= 0 && finisher->env.is_in_run &&
			      is_awaited(finisher);

	return crit_archive_is_wanted() && !is_first && !is_small(finisher) &&
	       finisher->state->phase != CRIT_FINISHER_REPLAYING_ONCE;
}

/* Does critd hang up, or say more, in that time? */
static bool has_news(const struct crit_finisher *finisher, short events, int timeout_ms)
{
	struct pollfd peer = { .fd = finisher->socket_fd, .events = events };

	return poll(&peer, 1, timeout_ms) != 0;
}

/* A report of the window alone, while processes of the run live on. */
static int write_window(struct crit_finisher *finisher)
{
	crit_nodes_wait(HERE, finisher->gather_ms);
	finisher->has_written = true;
	return write_results(finisher, true);
}

/*
 * The window is closed.  Its report is soon followed by that of the whole run, so it is made only
 * for those who wait for it, or where the run takes its time to end.
 */
static void close_window(struct crit_finisher *finisher)
{
	const bool is_ours = crit_nodes_is_reporter(HERE);
	const bool is_wanted = is_ours && !has_news(finisher, POLLRDHUP, 0) &&
			       (finisher->env.has_finish_s || !finisher->env.is_in_run) &&
			       is_awaited(finisher);
	int rc = 0;

	if (is_removed(finisher))
		rc = fail_removed(finisher);
	else if (is_wanted)
		rc = write_window(finisher);
	else if (is_ours)
		rc = -EINPROGRESS;
	answer(finisher, rc);
	(void)receive(finisher, 0);
	if (rc == -EINPROGRESS && !has_news(finisher, POLLIN | POLLRDHUP, END_MS))
		(void)write_window(finisher);
}

static int finish(struct crit_finisher *finisher)
{
	struct crit_recording_set *set;
	bool has_grown;

	while (finisher->socket_fd >= 0 && wait_closed(finisher))
		close_window(finisher);
	if (is_removed(finisher))
		return fail_removed(finisher);
	finisher->has_no_window = finisher->socket_fd >= 0 && !crit_nodes_is_reporter(HERE);
	if (finisher->has_no_window)
		return 0;
	if (finisher->is_late || finisher->socket_fd >= 0)
		crit_nodes_wait(HERE, finisher->gather_ms);
	set = crit_recording_set_create(NULL);
	has_grown = crit_recording_set_add(set, HERE, NULL) == 0 &&
		    crit_recording_set_bytes(set) != finisher->written_bytes;
	finisher->written_bytes = crit_recording_set_bytes(set);
	crit_recording_set_destroy(set);
	if (finisher->has_written && !has_grown && !finisher->is_provisional &&
	    finisher->last_status == 0)
		return 0;
	return is_one_replay(finisher) ? write_both(finisher) : write_results(finisher, false);
}

/*
 * After the run, from an epilog: is there anything left to do?  A finisher that ended well has
 * written the report and removed its lock; one that was killed has left the lock behind.  Another
 * node's report is that node's business.
 */
static bool is_needed_late(const struct crit_finisher *finisher)
{
	if (!crit_nodes_is_reporter(HERE) || crit_finish_lock_wait_trace(HERE, LATE_MS))
		return false;
	return faccessat(finisher->directory_fd, CRIT_LOCK_NAME, F_OK, 0) == 0 ||
	       faccessat(finisher->directory_fd, "report.json", F_OK, 0) != 0;
}

/* Where there is nothing else in it; another of its name would have to be empty as well. */
static void remove_directory(const struct crit_finisher *finisher)
{
	char name[PATH_MAX];

	(void)rmdir(crit_directory_name(finisher->directory_fd, HERE, name));
}

/* A recording that moved away may have left this directory to a finisher that was killed. */
static void leave_empty(const struct crit_finisher *finisher)
{
	struct crit_recording_set *set = crit_recording_set_create(NULL);

	if (crit_recording_set_add(set, HERE, NULL)) {
		(void)unlinkat(finisher->directory_fd, CRIT_LOCK_NAME, 0);
		remove_directory(finisher);
	}
	crit_recording_set_destroy(set);
}

static int open_recording(void)
{
	char host[CRIT_WORLD_BYTES];
	char name[CRIT_WORLD_BYTES + 8];

	crit_client_host(host);
	(void)snprintf(name, sizeof(name), "%s.crit", host);
	return open(name, O_PATH | O_CLOEXEC | O_NOFOLLOW);
}

/*
 * Two at work would mix their files.  The run's own finisher may meet one that took its place
 * while it was slow to start, and waits for that one's end.
 */
static int take_lock(struct crit_finisher *finisher)
{
	struct crit_err *err = &finisher->state->err;
	int rc;

	finisher->lock_fd = crit_finish_lock_take(finisher->directory_fd,
						  finisher->is_late ? READERS_MS : LATE_MS);
	if (finisher->lock_fd != -EWOULDBLOCK) /* where there are no locks, without */
		return 0;
	rc = crit_err_set(err, -EBUSY, "another crit finish is at work on it");
	if (!finisher->is_late)
		crit_directory_log(finisher->directory_fd, err->text);
	return rc;
}

int crit_finisher_work(struct crit_finisher *finisher)
{
	int rc;

	if (fchdir(finisher->directory_fd))
		return conclude(finisher, -errno, NULL);
	if (finisher->is_late && !is_needed_late(finisher)) {
		leave_empty(finisher);
		return 0;
	}
	crit_client_env_read(&finisher->env);
	finisher->gather_ms = (int)crit_setting_number(CRIT_SETTING_GATHER_S) * 1000;
	rc = take_lock(finisher);
	if (rc)
		return rc;
	finisher->recording_fd = open_recording();
	rc = finish(finisher);
	if (!rc && !finisher->has_no_window && !finisher->has_traced && crit_archive_is_wanted())
		write_trace(finisher);
	if (!rc && !finisher->has_no_window && !finisher->is_filmed)
		add_waits(finisher);
	if (finisher->lock_fd >= 0) {
		(void)unlinkat(finisher->directory_fd, CRIT_LOCK_NAME,
			       0); /* those who wait hold it open */
		close(finisher->lock_fd);
	}
	if (finisher->recording_fd >= 0)
		close(finisher->recording_fd);
	if (finisher->has_no_window)
		remove_directory(finisher); /* empty when the recording moved away */
	crit_recording_set_destroy(finisher->set);
	finisher->set = NULL;
	return rc;
}

void crit_finisher_clean(const struct crit_finisher *finisher)
{
	const int lock_fd = crit_finish_lock_take(finisher->directory_fd, READERS_MS);
	char here[32]; /* the caller has a working directory of its own */

	if (lock_fd == -EWOULDBLOCK) /* what is there belongs to one that is at work */
		return;
	(void)snprintf(here, sizeof(here), "/proc/self/fd/%d", finisher->directory_fd);
	crit_archive_discard(here);
	(void)unlinkat(finisher->directory_fd, CRIT_LOCK_NAME, 0); /* may not be there */
	if (lock_fd >= 0)
		close(lock_fd);
}
