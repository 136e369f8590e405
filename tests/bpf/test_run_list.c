// SPDX-License-Identifier: BSD-3-Clause
// A run that ends while an epilog holds the list of runs is in that list afterwards.
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/lib/check.h"
#include "tests/lib/critd_harness.h"

#define HELD_MS 500 /* far longer than a run takes to end */
#define PATIENCE_MS 5000

static struct crit_harness harness;

/* A process that registers and ends; its run ends with it. */
static void run_one(void)
{
	struct crit_harness_client client;
	const pid_t child = fork();
	int status = -1;

	if (child == 0)
		_exit(crit_harness_join(&harness, "listed", CRIT_ROLE_SHIM, 0, &client) ||
				      crit_harness_register(&client, CRIT_TLS_NONE, -1)
			      ? 1
			      : 0);
	(void)waitpid(child, &status, 0);
	CHECK_INT_EQ(status, 0);
}

static bool wait_listed(int list_fd)
{
	struct stat list;

	for (int ms = 0; ms < PATIENCE_MS; ms++) {
		if (fstat(list_fd, &list) == 0 && list.st_size > 0)
			return true;
		(void)usleep(1000);
	}
	return false;
}

/* An entry is the job's name, here none, and the directory. */
static void check_run(bool is_stopped)
{
	char path[] = "/tmp/crit-runs-XXXXXX";
	const int list_fd = mkstemp(path);
	const char *const arguments[] = { "--no-kernel", "--runs", path, NULL };
	char entry[256] = "";
	const pid_t epilog = fork();

	if (epilog == 0) { /* holds the list, for a while; its lock is its own */
		const int fd = open(path, O_RDWR | O_CLOEXEC);

		if (flock(fd, LOCK_EX) == 0)
			(void)pause();
		_exit(1);
	}
	(void)usleep(100000);
	crit_harness_start(&harness, arguments);
	run_one();
	(void)usleep(HELD_MS * 1000);
	if (is_stopped)
		(void)kill(harness.critd, SIGTERM);
	(void)usleep(100000);
	(void)kill(epilog, SIGKILL);
	(void)waitpid(epilog, NULL, 0);
	CHECK(wait_listed(list_fd));
	CHECK(pread(list_fd, entry, sizeof(entry) - 1, 0) > 2);
	CHECK(entry[0] == '\0' && entry[1] == '/');
	CHECK_INT_EQ(crit_harness_stop(&harness, !is_stopped), 0);
	crit_harness_clean(&harness);
	close(list_fd);
	(void)unlink(path);
}

int main(void)
{
	CHECK_CASE("critd goes on");
	check_run(false);
	CHECK_CASE("critd is stopped");
	check_run(true);
	return check_done();
}
