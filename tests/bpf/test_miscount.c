// SPDX-License-Identifier: BSD-3-Clause
// A run whose count of living threads is wrong ends all the same; one with a daemon goes on.
#include <bpf/bpf.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collector/source/kernel_object.h"
#include "tests/lib/check.h"
#include "tests/lib/critd_harness.h"

#define SOON_MS 5000
#define SEARCHES_MS 60000 /* two, ten seconds apart, and a busy machine */
#define PATIENCE_S 200 /* of processes whose test was ended */
#define MAPS_MAX 64

struct job { /* a run of one process */
	struct crit_harness_client client;
	pid_t pid;
	int go_fd; /* a byte: it goes on */
	int daemon_fd; /* it tells the number of its daemon */
};

/* Waits, leaves a child behind where it is to, and ends. */
static void process_main(int go_fd, int daemon_fd, bool leaves_daemon)
{
	pid_t daemon = 0;
	char none;

	(void)alarm(PATIENCE_S);
	if (read(go_fd, &none, 1) == 1 && leaves_daemon)
		daemon = fork();
	if (leaves_daemon && daemon == 0) {
		(void)alarm(PATIENCE_S);
		(void)pause();
	}
	_exit(write(daemon_fd, &daemon, sizeof(daemon)) == sizeof(daemon) ? 0 : 1);
}

static void begin(const struct crit_harness *harness, const char *key, bool leaves_daemon,
		  struct job *ret_job)
{
	int go[2], told[2];

	CHECK_INT_EQ(pipe(go), 0);
	CHECK_INT_EQ(pipe(told), 0);
	CHECK_INT_EQ(crit_harness_join(harness, key, CRIT_ROLE_RUNNER, 0, &ret_job->client), 0);
	ret_job->pid = fork();
	if (ret_job->pid == 0) {
		close(go[1]);
		process_main(go[0], told[1], leaves_daemon);
	}
	close(go[0]);
	close(told[1]);
	ret_job->go_fd = go[1];
	ret_job->daemon_fd = told[0];
	CHECK_INT_EQ(crit_harness_attach(&ret_job->client, ret_job->pid), 0);
}

/* Its process and its runner end.  Returns the number of the daemon, or 0. */
static pid_t leave(struct job *job)
{
	pid_t daemon = 0;
	int status = -1;

	CHECK_INT_EQ(write(job->go_fd, "", 1), 1);
	close(job->go_fd);
	CHECK_INT_EQ(read(job->daemon_fd, &daemon, sizeof(daemon)), sizeof(daemon));
	CHECK_INT_EQ(waitpid(job->pid, &status, 0), job->pid);
	CHECK_INT_EQ(status, 0);
	close(job->daemon_fd);
	close(job->client.fd);
	return daemon;
}

static bool has_ended(const struct job *job, int ms)
{
	struct pollfd end = { .fd = job->client.finisher_fd, .events = POLLRDHUP };

	return poll(&end, 1, ms) == 1;
}

/* The variables of critd's kernel half. */
static struct crit_bpf__bss *map_variables(pid_t critd)
{
	char path[64], line[128];
	void *found = MAP_FAILED;

	for (int fd = 0; fd < MAPS_MAX && found == MAP_FAILED; fd++) {
		struct bpf_map_info info = { .id = 0 };
		__u32 bytes = sizeof(info);
		int map_fd = -1;
		FILE *in;

		(void)snprintf(path, sizeof(path), "/proc/%d/fdinfo/%d", critd, fd);
		in = fopen(path, "re");
		while (in && fgets(line, sizeof(line), in))
			if (strncmp(line, "map_id:", 7) == 0)
				map_fd = bpf_map_get_fd_by_id((__u32)strtoul(line + 7, NULL, 10));
		if (in)
			(void)fclose(in);
		if (map_fd >= 0 && bpf_obj_get_info_by_fd(map_fd, &info, &bytes) == 0 &&
		    info.value_size == sizeof(struct crit_bpf__bss))
			found = mmap(NULL, info.value_size, PROT_READ | PROT_WRITE, MAP_SHARED,
				     map_fd, 0);
		if (map_fd >= 0)
			close(map_fd);
	}
	return found == MAP_FAILED ? NULL : found;
}

/* Counts a thread too many in the only run that there is. */
static void miscount(pid_t critd)
{
	struct crit_bpf__bss *bss = map_variables(critd);
	int run_count = 0;

	if (!CHECK(bss != NULL))
		return;
	for (__u32 i = 0; i < CRIT_RUN_SLOTS; i++) {
		if (!bss->run_counters[i].run_number)
			continue;
		run_count++;
		__atomic_fetch_add(&bss->run_counters[i].live_forked, 1, __ATOMIC_RELAXED);
	}
	CHECK_INT_EQ(run_count, 1);
	(void)munmap(bss, sizeof(*bss));
}

int main(void)
{
	struct crit_harness harness;
	struct job wrong, right;
	pid_t daemon;

	crit_harness_start(&harness, NULL);
	begin(&harness, "wrong", false, &wrong);
	miscount(harness.critd);
	begin(&harness, "right", true, &right);
	daemon = leave(&right);
	CHECK_INT_EQ(leave(&wrong), 0);
	CHECK(daemon > 0);

	CHECK(!has_ended(&wrong, SOON_MS));
	CHECK(has_ended(&wrong, SEARCHES_MS));
	CHECK(!has_ended(&right, SOON_MS));
	if (daemon > 0)
		CHECK_INT_EQ(kill(daemon, SIGKILL), 0);
	CHECK(has_ended(&right, SOON_MS));
	CHECK_INT_EQ(crit_harness_stop(&harness, true), 0);
	crit_harness_clean(&harness);
	return check_done();
}
