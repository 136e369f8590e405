// SPDX-License-Identifier: BSD-3-Clause
// critd's priority: none while it loads; then real-time, which is bounded, and given up by all
// threads once the bound is met.
#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "collector/system/now.h"
#include "core/base/clock.h"
#include "tests/lib/check.h"
#include "tests/lib/critd_harness.h"

#define PATIENCE_MS 5000

/* How many threads of the process have that policy. */
static int count_threads(pid_t pid, int policy)
{
	struct dirent *entry;
	char path[32];
	int count = 0;
	DIR *dir;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		const pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);

		if (tid > 0 && sched_getscheduler(tid) == policy)
			count++;
	}
	if (dir)
		(void)closedir(dir);
	return count;
}

static bool wait_for_threads(pid_t pid, int policy, int wanted)
{
	const struct timespec pause = { 0, 1000000 };

	for (int ms = 0; ms < PATIENCE_MS; ms++) {
		if (count_threads(pid, policy) == wanted)
			return true;
		(void)nanosleep(&pause, NULL);
	}
	return false;
}

/* The main thread alone. */
static bool wait_for_main(pid_t pid, int policy)
{
	const struct timespec pause = { 0, 1000000 };

	for (int ms = 0; ms < PATIENCE_MS && sched_getscheduler(pid) != policy; ms++)
		(void)nanosleep(&pause, NULL);
	return sched_getscheduler(pid) == policy;
}

/* How many of its descriptors lead to something of that name. */
static int count_descriptors(pid_t pid, const char *name)
{
	struct dirent *entry;
	char path[64], target[64];
	int count = 0;
	DIR *dir;

	(void)snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		const ssize_t length =
			readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);

		target[length > 0 ? length : 0] = '\0';
		count += strstr(target, name) != NULL;
	}
	if (dir)
		(void)closedir(dir);
	return count;
}

/* When critd is first seen with a priority, its programs are attached: both stay as they are. */
static void check_order(pid_t critd)
{
	const __u64 begin_ns = crit_clock_ns(CLOCK_MONOTONIC);

	while (count_threads(critd, SCHED_RR) == 0 &&
	       getpriority(PRIO_PROCESS, (id_t)critd) == getpriority(PRIO_PROCESS, 0) &&
	       crit_clock_ns(CLOCK_MONOTONIC) - begin_ns < PATIENCE_MS * 1000000ull)
		;
	CHECK(count_descriptors(critd, "bpf_link") > 0 || count_descriptors(critd, "bpf-link") > 0);
}

int main(void)
{
	const struct sched_param lowest = { .sched_priority = 1 };
	struct crit_harness_client client;
	struct crit_harness harness;
	struct rlimit limit = { 0, 0 };

	if (sched_setscheduler(0, SCHED_RR, &lowest)) {
		puts("skip: real-time priorities are not permitted here");
		return CHECK_SKIP_EXIT;
	}
	(void)sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){ 0 });
	crit_harness_start(&harness, NULL);
	check_order(harness.critd);
	CHECK_INT_EQ(crit_harness_join(&harness, "priority", CRIT_ROLE_ROOT, 0, &client), 0);
	CHECK(wait_for_threads(harness.critd, SCHED_RR, 5)); /* main, writer, three workers */
	CHECK_INT_EQ(prlimit(harness.critd, RLIMIT_RTTIME, NULL, &limit), 0);
	CHECK_INT_EQ(limit.rlim_cur, 1000000); /* us */

	/* what the kernel sends at the bound */
	CHECK_INT_EQ(kill(harness.critd, SIGXCPU), 0);
	CHECK(wait_for_main(harness.critd, SCHED_OTHER));
	CHECK_INT_EQ(getpriority(PRIO_PROCESS, (id_t)harness.critd), 0);

	/* and serves as before; who has something to write, or memory maps to read, follows */
	CHECK_INT_EQ(crit_harness_register(&client, CRIT_TLS_NONE, -1), 0);
	CHECK(wait_for_threads(harness.critd, SCHED_OTHER, 3));
	close(client.fd);
	CHECK_INT_EQ(crit_harness_stop(&harness, true), 0);
	crit_harness_clean(&harness);
	return check_done();
}
