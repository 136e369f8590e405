// SPDX-License-Identifier: BSD-3-Clause
/*
 * crit finish: the finisher.  Waits until critd says that the window is closed or hangs up, turns
 * the recording into results, answers, and does it again at the end if more was recorded; then
 * comes the OTF2 archive, which nobody in the run waits for.
 *
 * Nobody looks at it: it has no terminal, its parent is gone, the program may be killed any time.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/nodes.h"
#include "cli/recording_set.h"
#include "cli/trace.h"
#include "cli/writers.h"
#include "core/abi_socket.h"
#include "core/cleanup.h"
#include "core/client.h"
#include "core/setting.h"

#define TRACE_NICE 10
#define LATE_MS 30000 /* for a finisher at work when the job is over */
#define TAIL_BYTES 26 /* -YYYYmmddTHHMMSSZ-xxxxxxxx */

struct finisher {
	const char *directory;
	int directory_fd;
	int socket_fd; /* -1: none, finish at once */
	int lock_fd;
	enum crit_active_rule rule;
	struct crit_recording_set set; /* the last results were made from */
	uint64_t written_bytes; /* of it, then */
	int last_status;
	bool is_late; /* after the run: a finisher before us may have done it all */
	bool has_no_part; /* another node's finisher reports */
	bool is_provisional; /* the last results keep silent about what may still come */
};

/* The program's name inside the directory's, crit-<exe>-<date>-<hash>; else all of it. */
static void log_failure(const char *directory, const char *text)
{
	const char *slash = strrchr(directory, '/');
	const char *name = slash && slash[1] ? slash + 1 : directory;
	struct crit_client client = { .fd = -1 };
	size_t length;

	if (strncmp(name, "crit-", 5) == 0 && name[5])
		name += 5;
	length = strlen(name);
	if (length > TAIL_BYTES && name[length - TAIL_BYTES] == '-' && name[length - 9] == '-')
		length -= TAIL_BYTES;
	(void)snprintf(client.exe, sizeof(client.exe), "%.*s", (int)length, name);
	crit_client_log(&client, text);
}

static int write_results(struct finisher *finisher, bool is_live)
{
	struct crit_analysis analysis = { 0 };
	struct crit_err err = { { 0 } };
	struct crit_summary summary;
	int status;

	crit_recording_set_fini(&finisher->set);
	status = crit_recording_set_add(&finisher->set, finisher->directory, &err);
	finisher->written_bytes = crit_recording_set_bytes(&finisher->set);
	if (!status)
		status = crit_recording_set_analyse(&finisher->set, finisher->rule, false, NULL,
						    &analysis, &err);
	if (!status) {
		status = crit_analysis_summarise(&analysis, is_live, &summary);
		if (!status) {
			status = crit_write_all(finisher->directory_fd, finisher->directory,
						&summary, &err);
			finisher->is_provisional = summary.is_provisional;
			crit_summary_fini(&summary);
		}
	}
	if (status && status != finisher->last_status)
		log_failure(finisher->directory, err.text[0] ? err.text : strerror(-status));
	finisher->last_status = status;
	crit_analysis_fini(&analysis);
	return status;
}

/* The archive follows the report, and lets those who compute go first. */
static void write_trace(struct finisher *finisher)
{
	const struct crit_trace_options options = { .rule = finisher->rule };
	struct crit_trace_result result;
	struct crit_err err = { { 0 } };
	int status;

	errno = 0;
	(void)nice(TRACE_NICE); /* without it all the same */
	status = crit_trace_write(&finisher->set, finisher->directory, &options, &result, &err);
	if (status && status != -ENODATA) /* level profile: the report says so */
		log_failure(finisher->directory, err.text[0] ? err.text : strerror(-status));
}

static void answer(const struct finisher *finisher, int status)
{
	struct timespec now;
	struct crit_message_status message = {
		.head = { .kind = CRIT_M_WRITTEN,
			  .version = CRIT_SOCKET_VERSION,
			  .size = sizeof(message) },
		.status = status,
	};

	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail for this clock */
	message.time_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	/* critd may be gone; the results are there all the same */
	(void)send(finisher->socket_fd, &message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* True for CLOSED, false for the end of the conversation. */
static bool wait_closed(const struct finisher *finisher)
{
	union {
		struct crit_message_head head;
		char bytes[CRIT_MESSAGE_MAX];
	} message;

	for (;;) {
		ssize_t length = recv(finisher->socket_fd, &message, sizeof(message), 0);

		if (length < 0 && errno == EINTR)
			continue;
		if (length <= 0)
			return false;
		if (length >= (ssize_t)sizeof(message.head) && message.head.kind == CRIT_M_CLOSED)
			return true;
	}
}

static int finish(struct finisher *finisher)
{
	const int gather_ms = (int)crit_setting_number(CRIT_SETTING_GATHER_S) * 1000;
	struct crit_recording_set set = { 0 };
	bool has_written = false;
	bool has_grown;

	while (finisher->socket_fd >= 0 && wait_closed(finisher)) {
		int status = 0;

		if (crit_nodes_is_reporter(finisher->directory)) {
			crit_nodes_wait(finisher->directory, gather_ms);
			status = write_results(finisher, true);
			has_written = true;
		}
		answer(finisher, status);
	}
	if (finisher->is_late)
		crit_nodes_wait(finisher->directory, gather_ms);
	if (finisher->socket_fd >= 0) {
		finisher->has_no_part = !crit_nodes_is_reporter(finisher->directory);
		if (finisher->has_no_part)
			return 0;
		crit_nodes_wait(finisher->directory, gather_ms);
	}
	has_grown = crit_recording_set_add(&set, finisher->directory, NULL) == 0 &&
		    crit_recording_set_bytes(&set) != finisher->written_bytes;
	crit_recording_set_fini(&set);
	if (has_written && !has_grown && !finisher->is_provisional && finisher->last_status == 0)
		return 0;
	return write_results(finisher, false);
}

/*
 * After the run, from an epilog: is there anything left to do?  A finisher that ended well has
 * written the report and removed its lock; one that was killed has left the lock behind.  Another
 * node's report is that node's business.
 */
static bool is_needed_late(const struct finisher *finisher)
{
	if (!crit_nodes_is_reporter(finisher->directory) ||
	    crit_finish_wait_trace(finisher->directory, LATE_MS))
		return false;
	return faccessat(finisher->directory_fd, CRIT_LOCK_NAME, F_OK, 0) == 0 ||
	       faccessat(finisher->directory_fd, "report.json", F_OK, 0) != 0;
}

/* A recording that moved away may have left this directory to a finisher that was killed. */
static void leave_empty(const struct finisher *finisher)
{
	struct crit_recording_set set = { 0 };

	if (crit_recording_set_add(&set, finisher->directory, NULL)) {
		(void)unlinkat(finisher->directory_fd, CRIT_LOCK_NAME, 0);
		(void)rmdir(finisher->directory); /* where there is nothing else */
	}
	crit_recording_set_fini(&set);
}

static int usage(void)
{
	(void)fprintf(stderr, "usage: crit finish --directory DIR [--socket-fd N | --late] "
			      "[--active=RULE]\n");
	return CRIT_EXIT_USAGE;
}

static int parse(int argc, char **argv, struct finisher *finisher)
{
	static const struct option names[] = {
		{ "directory", required_argument, NULL, 'd' },
		{ "socket-fd", required_argument, NULL, 's' },
		{ "late", no_argument, NULL, 'l' },
		{ "active", required_argument, NULL, 'a' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	char *end;
	int option;

	(void)crit_rule_parse(crit_setting_text(CRIT_SETTING_ACTIVE, NULL), &finisher->rule);
	optind = 1;
	while ((option = getopt_long(argc, argv, "d:s:la:h", names, NULL)) != -1) {
		if (option == 'd') {
			finisher->directory = optarg;
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
	return finisher->directory && optind == argc ? -1 : usage();
}

int crit_command_finish(int argc, char **argv)
{
	struct finisher finisher = { .socket_fd = -1, .directory_fd = -1 };
	int code = parse(argc, argv, &finisher);
	int status;

	if (code >= 0)
		return code;
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGHUP, SIG_IGN);
	(void)signal(SIGINT, SIG_IGN);
	(void)signal(SIGTERM, SIG_IGN); /* ends with critd, which a time limit ends as well */
	finisher.directory_fd = open(finisher.directory, O_DIRECTORY | O_RDONLY | O_CLOEXEC);
	if (finisher.directory_fd < 0) {
		log_failure(finisher.directory, strerror(errno));
		return CRIT_EXIT_FAILED;
	}
	if (finisher.is_late && !is_needed_late(&finisher)) {
		leave_empty(&finisher);
		(void)close(finisher.directory_fd);
		return CRIT_EXIT_OK;
	}
	finisher.lock_fd = crit_finish_lock(finisher.directory_fd);
	status = finish(&finisher);
	if (!status && !finisher.has_no_part && crit_trace_is_wanted())
		write_trace(&finisher);
	if (finisher.lock_fd >= 0) {
		(void)unlinkat(finisher.directory_fd, CRIT_LOCK_NAME,
			       0); /* those who wait hold it open */
		close(finisher.lock_fd);
	}
	if (finisher.has_no_part)
		(void)rmdir(finisher.directory); /* empty when the recording moved away */
	close(finisher.directory_fd);
	crit_recording_set_fini(&finisher.set);
	return status ? CRIT_EXIT_FAILED : CRIT_EXIT_OK;
}
