// SPDX-License-Identifier: BSD-3-Clause
// crit run -p: reads /proc for what prevents recording a process, and for those below it; removes a
// run without members.
#include "cli/launch/attach.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/launch/child.h"
#include "cli/launch/process_tree.h"
#include "cli/results/finish_lock.h"
#include "cli/results/no_report.h"
#include "cli/results/recording_set.h"
#include "core/base/cleanup.h"
#include "core/base/clock.h"
#include "report/pages/report_files.h"

#define START_STEPS 400
#define STEP_NS 5000000
#define FINISH_MS 5000
#define ENVIRONMENT_BYTES (1u << 20)
#define RANKS_MAX 65536 /* told apart */

/* The effective user, which the owner of /proc/PID is only where the process is dumpable. */
static int read_user(pid_t pid, unsigned int *ret_uid)
{
	crit_autofclose FILE *in = NULL;
	char path[64], line[256];

	(void)snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	in = fopen(path, "re");
	if (!in)
		return errno == ENOENT ? -ESRCH : -errno;
	while (fgets(line, sizeof(line), in))
		if (sscanf(line, "Uid: %*u %u", ret_uid) == 1)
			return 0;
	return -ESRCH;
}

int crit_attach_check(pid_t pid, struct crit_err *err)
{
	unsigned int uid = 0;
	char path[64], byte;
	int rc = read_user(pid, &uid);

	if (rc)
		return crit_err_set(err, rc, "%s", strerror(-rc));
	if (uid != geteuid())
		return crit_err_set(err, -EPERM,
				    "it belongs to user %u, and critd serves user %u; run crit as "
				    "that user",
				    uid, (unsigned int)geteuid());
	(void)snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	if (readlink(path, &byte, 1) >= 0)
		return 0;
	if (errno == EACCES)
		return crit_err_set(err, -EACCES,
				    "it may not be read: its program is execute-only, set-user-ID "
				    "or has capabilities; only root's crit may start such a one: "
				    "sudo crit run -- PROGRAM");
	return crit_err_set(err, -EINVAL, "it is a thread of the kernel, or about to end");
}

/* The finisher holds its lock by the time it waits for the run's end. */
static void await_finisher(const char *directory)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/%s", directory, CRIT_LOCK_NAME);
	for (int i = 0; i < START_STEPS && access(path, F_OK); i++)
		crit_clock_pause_ns(STEP_NS);
}

static void remove_file(const struct crit_client *client, const char *name, const char *suffix)
{
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/%s%s", client->directory, name, suffix);
	(void)unlink(path);
}

/* The finisher of a run without a recording can only say so. */
static void leave_nothing(struct crit_client *client)
{
	if (client->is_first) {
		await_finisher(client->directory);
		remove_file(client, client->host, ".crit");
	}
	crit_client_fini(client);
	if (client->is_first) {
		/* Not for its lock alone: it may have made the file and not have locked it yet. */
		(void)crit_finish_lock_wait_report(client->directory, FINISH_MS);
		remove_file(client, CRIT_NO_REPORT_NAME, "");
		(void)rmdir(client->directory); /* where there is nothing else */
	}
}

static int attach(struct crit_client *client, int pidfd, struct crit_err *err)
{
	if (client->kernel_status && client->perf_status != 1)
		return crit_err_set(err, client->kernel_status,
				    "critd has neither its kernel half nor perf events: %s; see "
				    "crit doctor",
				    strerror(-client->kernel_status));
	return crit_client_attach(client, pidfd, err);
}

int crit_attach(struct crit_client *client, int pidfd, struct crit_err *err)
{
	int rc = attach(client, pidfd, err);

	if (rc)
		leave_nothing(client);
	return rc;
}

struct children {
	struct crit_client *client;
	struct crit_attached *attached;
	uint64_t ranks[RANKS_MAX / 64]; /* a bit for each that was found */
};

/* Below a rank all have its environment: it counts once. */
static void find_rank(struct children *children, pid_t pid)
{
	crit_autofclose FILE *in = NULL;
	crit_autofree char *environment = malloc(ENVIRONMENT_BYTES);
	char path[64];
	long rank;

	(void)snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	in = environment ? fopen(path, "re") : NULL;
	if (!in)
		return;
	rank = crit_process_tree_rank(environment, fread(environment, 1, ENVIRONMENT_BYTES, in));
	if (rank < 0 || rank >= RANKS_MAX || children->ranks[rank / 64] >> (rank % 64) & 1)
		return;
	children->ranks[rank / 64] |= 1ull << (rank % 64);
	children->attached->rank_count++;
}

/* One that ends meanwhile is none; one that registered by itself is recorded already. */
static void attach_child(void *context, pid_t pid)
{
	struct children *children = context;
	crit_autoclose int pidfd = crit_child_pidfd(pid);
	int rc = pidfd < 0 ? pidfd : crit_attach_check(pid, NULL);

	if (!rc)
		rc = crit_client_attach(children->client, pidfd, NULL);
	if (rc == -ESRCH || rc == -EINVAL || rc == -EALREADY)
		return;
	if (rc) {
		children->attached->left_out_count++;
		return;
	}
	children->attached->process_count++;
	find_rank(children, pid);
}

int crit_attach_children(struct crit_client *client, pid_t pid, struct crit_attached *ret_attached)
{
	struct children children = { .client = client, .attached = ret_attached };

	*ret_attached = (struct crit_attached){ 0 };
	return crit_process_tree_walk(pid, attach_child, &children);
}
