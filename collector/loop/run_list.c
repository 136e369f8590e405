// SPDX-License-Identifier: BSD-3-Clause
// Appends to the list of runs, under the lock that epilogs take, and tries again while one has it.
#include "collector/loop/run_list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define RUNS_BYTES_MAX (1u << 20)

/* While we still may: it is where the user may not write. */
int crit_run_list_open(struct crit_server *server, struct crit_err *err)
{
	const char *path = server->options.runs_path;

	if (!path)
		return 0;
	server->runs_fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (server->runs_fd < 0)
		return crit_err_set(err, -errno, "cannot open the list of runs %s: %s", path,
				    strerror(errno));
	return 0;
}

/* True where it was added.  An epilog takes entries off meanwhile, so the size is the file's. */
static bool add_to_list(const struct crit_server *server, const void *entry, size_t bytes)
{
	struct stat list;

	return fstat(server->runs_fd, &list) == 0 &&
	       (uint64_t)list.st_size + bytes <= RUNS_BYTES_MAX &&
	       write(server->runs_fd, entry, bytes) == (ssize_t)bytes;
}

void crit_run_list_retry(struct crit_server *server, struct crit_run *run)
{
	char entry[sizeof(run->job) + sizeof(run->directory)];
	const size_t name_bytes = strlen(run->job) + 1;
	const size_t bytes = name_bytes + strlen(run->directory) + 1;
	bool is_added;

	run->is_list_due = flock(server->runs_fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK;
	if (run->is_list_due)
		return;
	memcpy(entry, run->job, name_bytes);
	memcpy(entry + name_bytes, run->directory, bytes - name_bytes);
	is_added = add_to_list(server, entry, bytes);
	(void)flock(server->runs_fd, LOCK_UN);
	if (!is_added && !server->has_unlisted) {
		server->has_unlisted = true;
		server->say("cannot add to the list of runs, which may hold 1 MiB: reports that "
			    "are missing at the end of a job stay so; make them with crit report");
	}
}

void crit_run_list_add(struct crit_server *server, struct crit_run *run, const char *job)
{
	if (run->is_listed || !run->directory[0] || server->runs_fd < 0)
		return;
	run->is_listed = true;
	(void)snprintf(run->job, sizeof(run->job), "%s", job);
	crit_run_list_retry(server, run);
}
