// SPDX-License-Identifier: BSD-3-Clause
// Prints one line at the end of rank 0: where the report is, or why there is none.
#include "core/shim/shim_conclude.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "core/base/guard.h"
#include "core/base/line.h"
#include "core/shim/shim_process.h"
#include "core/shim/shim_state.h"

#define DIRECTORY_BYTES 300 /* of it in a line: its end */
#define DYING_MS 100
#define DYING_STEP_MS 10

struct last_line {
	char text[CRIT_NOTICE_BYTES];
	size_t length;
};

__attribute__((format(printf, 2, 3))) static void append(struct last_line *line, const char *format,
							 ...)
{
	const size_t room = sizeof(line->text) - 1 - line->length; /* the newline's */
	va_list arguments;
	int length;

	va_start(arguments, format);
	length = vsnprintf(line->text + line->length, room, format, arguments);
	va_end(arguments);
	if (length > 0)
		line->length += (size_t)length < room ? (size_t)length : room - 1;
}

static void append_directory(struct last_line *line)
{
	const char *directory = crit_process.client.directory;
	const size_t length = strlen(directory);
	const bool is_cut = length > DIRECTORY_BYTES;

	append(line, "%s%s", is_cut ? "..." : "",
	       directory + (is_cut ? length - DIRECTORY_BYTES : 0));
}

/* The directory may have been renamed, which the finisher, who holds it open, did not mind. */
static bool is_there(void)
{
	char path[CRIT_PATH_BYTES + 16];

	(void)snprintf(path, sizeof(path), "%s/report.txt", crit_process.client.directory);
	return access(path, F_OK) == 0;
}

static void append_follows(struct last_line *line)
{
	append(line, "report follows in ");
	append_directory(line);
}

static void append_written(struct last_line *line, int rc)
{
	if (rc == -EINPROGRESS) {
		append_follows(line);
		return;
	}
	if (rc == 0) {
		append(line, "report in ");
		append_directory(line);
		append(line, is_there() ? "/report.txt" : ", which was renamed or removed");
		return;
	}
	append(line, "no report in ");
	append_directory(line);
	append(line, ": %s; 'crit report' makes it from the recording there",
	       rc == -EPIPE ? "crit finish was killed" : strerrordesc_np(-rc));
}

/* A finisher that was killed leaves its lock file, held by nobody. */
static bool is_abandoned(void)
{
	char path[CRIT_PATH_BYTES + 16];
	crit_autoclose int fd = -1;

	(void)snprintf(path, sizeof(path), "%s/.finish.lock", crit_process.client.directory);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) == 0;
}

/* What killed critd may have killed the finisher as well, whose lock goes a moment later. */
static bool is_abandoned_soon(void)
{
	for (unsigned waited_ms = 0; waited_ms < DYING_MS; waited_ms += DYING_STEP_MS) {
		if (is_there() || is_abandoned())
			break;
		crit_clock_pause_ns(DYING_STEP_MS * 1000000l);
	}
	return is_abandoned();
}

/* Without critd nobody tells what the finisher does. */
static void append_without_critd(struct last_line *line)
{
	const bool is_left = is_abandoned_soon();

	append(line, "the collector was killed, and the recording ends there; ");
	if (is_there() || !is_left) {
		append(line, "report %s in ", is_there() ? "is" : "follows");
		append_directory(line);
		return;
	}
	append(line, "no report in ");
	append_directory(line);
	append(line, ": crit finish was killed, too; 'crit report' makes it");
}

static int patience_ms(void)
{
	const struct crit_client_env *env = &crit_process.env;

	if (env->has_finish_s)
		return (int)env->finish_s * 1000;
	return env->is_in_run ? 0 : CRIT_END_MS;
}

/* What is known by the end of the wait. */
static void append_outcome(struct last_line *line)
{
	const int wait_ms = patience_ms();
	int rc = 0;
	int error = -ETIMEDOUT;

	if (wait_ms > 0)
		error = crit_client_wait_written(&crit_process.client, wait_ms, &rc);
	if (error == 0) {
		append_written(line, rc);
		return;
	}
	if (error == -EPIPE) {
		append_without_critd(line);
		return;
	}
	append_follows(line);
}

void crit_shim_conclude(void)
{
	CRIT_GUARD;
	struct last_line line = { .length = 0 };

	append(&line, "crit: ");
	if (crit_shim_has_failed()) /* others may be, as on another node */
		append(&line, "rank 0 is not recorded: %s", crit_process.failure.text);
	else if (atomic_load_explicit(&crit_process.state, memory_order_acquire) ==
		 CRIT_PROCESS_READY)
		append_outcome(&line);
	else
		return;
	if (crit_process.env.ignored[0])
		append(&line, "; %s", crit_process.env.ignored);
	crit_line_tame(line.text, line.length, false);
	line.text[line.length++] = '\n';
	if (!crit_process.env.is_quiet)
		(void)crit_notice_write(&crit_process.notice, line.text, line.length);
}
